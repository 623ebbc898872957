// SPDX-License-Identifier: GPL-2.0
#include "stat_report.h"

#include "counts.h"
#include "cpumap.h"
#include "data_events.h"
#include "data_reader.h"
#include "evlist.h"
#include "msg.h"
#include "stat_cmd.h"
#include "thread_map.h"
#include "tool_facts.h"
#include "topology.h"
#include "util.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report {
	struct stat_cmd *cmd;
	struct data_reader *reader;
	struct data_events events;
	bool is_ready;			/* the counts of all events have a place */
	bool is_over;			/* the final round has come */
	uint64_t nr_rounds;
	struct stat_times times;	/* as of the last round */
	char *argv[2];			/* what stands for a command that was counted */
	int status;			/* not 0: why we give up, when no errno says it */
};

/* --- what is to be printed --- */

/* Modes had other numbers before there were caches, and before there were clusters among them. */
static enum aggr_mode recorded_mode(const struct report *report)
{
	static const enum aggr_mode first[] = { AGGR_CORE, AGGR_THREAD, AGGR_UNSET, AGGR_NODE };
	static const enum aggr_mode second[] = { AGGR_CACHE, AGGR_CORE, AGGR_THREAD, AGGR_UNSET,
						 AGGR_NODE };
	const struct data_config *config = &report->events.config;
	const char *version = data_reader__facts(report->reader)->version;
	uint64_t mode = config->aggr_mode;
	int minor;

	if (mode <= AGGR_DIE)
		return mode;
	mode -= AGGR_DIE + 1;
	if (config->nr == 3)
		return mode < ARRAY_SIZE(first) ? first[mode] : AGGR_UNSET;
	if (version && sscanf(version, "6.%d", &minor) == 1 && minor <= 8)
		return mode < ARRAY_SIZE(second) ? second[mode] : AGGR_UNSET;
	return config->aggr_mode <= AGGR_NODE ? config->aggr_mode : AGGR_UNSET;
}

static const struct topology *topology(struct report *report)
{
	struct topology *topology = data_reader__facts(report->reader)->topology;
	char *at = report->events.extra.clusters, *end;

	for (int cpu = 0; at && topology && cpu < topology->nr_cpus; cpu++, at = end) {
		unsigned long id = strtoul(at, &end, 10);

		if (end == at || id > INT_MAX)
			break;
		topology->cpus[cpu].cluster = id;
	}
	return topology;
}

/* Whether the data have what rows of that mode are made of. Return: NULL, or what is missing */
static const char *missing_for(const struct report *report, enum aggr_mode mode)
{
	bool is_stream = data_reader__is_stream(report->reader);

	if (mode == AGGR_GLOBAL)
		return NULL;
	if (mode == AGGR_THREAD && report->events.has_sums)
		return "they are of all threads together (perf stat record --per-thread)";
	if (mode == AGGR_THREAD)
		return report->events.threads ? NULL : "they are of CPUs, not of threads";
	if (!report->events.has_cpus)
		return "they are of tasks, not of CPUs";
	if (mode == AGGR_NONE)
		return NULL;
	/* Streams of others do not describe the machine: it is taken to be this one. */
	if (!data_reader__facts(report->reader)->topology)
		return is_stream ? NULL : "they do not say where the CPUs are";
	if (mode == AGGR_CLUSTER && !report->events.extra.clusters)
		return "they do not say which CPUs are a cluster";
	return NULL;
}

static int choose_rows(struct report *report)
{
	struct stat_config *config = &report->cmd->run.config;
	bool is_asked = config->aggr_mode != AGGR_UNSET;
	const char *missing;

	if (!is_asked) {
		config->aggr_mode = recorded_mode(report);
		if (!config->cache_level && report->events.config.cache_level <= NR_CACHE_LEVELS)
			config->cache_level = report->events.config.cache_level;
	}
	if (config->aggr_mode == AGGR_UNSET)
		config->aggr_mode = AGGR_GLOBAL;
	config->topology = topology(report);
	missing = missing_for(report, config->aggr_mode);
	/* The run itself falls back like that. */
	if (missing && !is_asked)
		config->aggr_mode = AGGR_GLOBAL;
	if (!missing || !is_asked)
		return config->aggr_mode == AGGR_GLOBAL ?
			       0 :
			       data_events__check_rows(&report->events,
						       config->aggr_mode == AGGR_THREAD);
	pr_err("the counts cannot be broken down like that: %s", missing);
	report->status = STATUS_INVALID;
	return -EINVAL;
}

/* Whom the run was about: footers and some metrics depend on it. */
static void set_target(struct report *report)
{
	const struct stat_extra *extra = &report->events.extra;
	struct target *target = &report->cmd->run.target;

	report->argv[0] = "";
	memset(target, 0, sizeof(*target));
	if (extra->is_workload) {
		target->argv = report->argv;
		target->argc = 1;
	} else if (report->events.threads && !extra->is_system_wide) {
		target->pid_list = "";
	} else {
		target->system_wide = true;
	}
}

/* The metrics that the run was asked for, with the same sets of events; without them if need be. */
static int find_metrics(struct report *report)
{
	const struct stat_extra *extra = &report->events.extra;
	struct metric_plan *plan = &report->cmd->metrics;
	struct stat_cmd *cmd = report->cmd;
	struct evlist *scratch;
	int err = 0;

	stat_cmd__set_metric_scope(cmd);
	plan->names = extra->metrics ? strdup(extra->metrics) : NULL;
	plan->topdown = extra->topdown;
	plan->transaction = extra->transaction;
	plan->smi_cost = extra->smi_cost;
	plan->td_level = extra->td_level <= MAX_TD_LEVEL ? extra->td_level : 1;
	plan->options.no_group = extra->metric_no_group;
	plan->options.no_merge = extra->metric_no_merge;
	plan->options.no_threshold = extra->metric_no_threshold;
	if (metric_plan__is_empty(plan) && !extra->has_defaults)
		return 0;
	scratch = evlist__new();
	if (!scratch)
		return -ENOMEM;
	if (!metric_plan__is_empty(plan))
		err = metric_plan__add_events(plan, scratch);
	else
		err = metric_plan__add_defaults(plan, scratch, extra->detail);
	evlist__delete(scratch);
	if (err && err != -ENOMEM) {
		pr_warn("this machine lacks metrics that were recorded: they are left out");
		metric_requests__clear(&plan->requests);
		err = 0;
	}
	return err;
}

/* --- the rounds --- */

/* All is known that comes before the first counts. */
static int get_ready(struct report *report)
{
	const struct stat_extra *extra = &report->events.extra;
	struct stat_cmd *cmd = report->cmd;
	struct stat_config *config = &cmd->run.config;
	int err = data_events__complete(&report->events);

	if (!err)
		err = choose_rows(report);
	if (err)
		return err;
	config->interval_ms = report->events.config.interval_ms;
	config->no_scale |= !report->events.config.scale;
	config->no_merge |= extra->no_merge;
	config->for_each_cgroup = extra->for_each_cgroup;
	config->null_run = extra->null_run;
	config->summary |= extra->summary;
	config->no_metrics |= extra->no_metrics;
	config->metric_only |= extra->metric_only;
	config->percore_show_thread = extra->percore_show_thread;
	config->title = data_reader__is_stream(report->reader) ?
				"pipe" : data_reader__facts(report->reader)->command;
	set_target(report);
	err = find_metrics(report);
	if (err)
		return err;
	report->status = stat_cmd__open_output(cmd);
	if (report->status)
		return -EINVAL;
	cmd->run.stat = stat__new(config, cmd->evlist);
	report->is_ready = true;
	return cmd->run.stat ? 0 : -errno;
}

static int take_round(struct report *report, struct data_record *record)
{
	struct data_round_end round;
	int err = data_events__take_round(&report->events, record, &round);

	if (err)
		return err;
	report->nr_rounds++;
	report->times.elapsed_ns = round.time_ns;
	report->times.user_ns = round.user_ns;
	report->times.sys_ns = round.sys_ns;
	report->is_over = round.is_final;
	return round.is_final ? 0 : stat__interval(report->cmd->run.stat, round.time_ns);
}

static int take(struct report *report, struct data_record *record)
{
	bool has_counts = record->type == RECORD_STAT || record->type == RECORD_STAT_ROUND;
	int err;

	if (has_counts && !report->is_ready) {
		err = get_ready(report);
		if (err)
			return err;
	}
	/* Behind the final round is nothing that has been counted. */
	if (has_counts && report->is_over)
		return 0;
	switch (record->type) {
	case RECORD_STAT:
		return data_events__take_stat(&report->events, record);
	case RECORD_STAT_ROUND:
		return take_round(report, record);
	default:
		/* What events are is settled before they have counts. */
		return report->is_ready ? 0 : data_events__take(&report->events, record);
	}
}

static int finish(struct report *report)
{
	struct stat *stat = report->cmd->run.stat;
	int err;

	/* With intervals there need be no final round. */
	if (!report->is_over && !(report->nr_rounds && report->cmd->run.config.interval_ms))
		return data_events__cut_short(&report->events);
	err = stat__run_done(stat, &report->times);
	return err ? err : stat__print(stat);
}

int stat_report__print(struct stat_cmd *cmd, const char *path)
{
	struct report report = { .cmd = cmd };
	struct data_record record;
	int err, more = 0;

	err = data_reader__open(path, &report.reader);
	if (err)
		return STATUS_NO_DATA;
	if (cmd->output_path && data_reader__is_from(report.reader, cmd->output_path)) {
		pr_err("-o %s: that is the recording itself: name another file", cmd->output_path);
		report.status = STATUS_INVALID;
		err = -EINVAL;
	} else {
		err = data_reader__check_stat(report.reader);
	}
	report.events.evlist = cmd->evlist;
	report.events.pmus = cmd->pmus;
	report.events.reader = report.reader;
	while (!err && (more = data_reader__next(report.reader, &record)) == 1)
		err = take(&report, &record);
	if (!err && more < 0)
		err = more;
	if (!err)
		err = finish(&report);
	if (err == -ENOMEM)
		pr_err("out of memory");
	if (cmd->run.config.output && stat_cmd__close_output(cmd) && !err)
		report.status = STATUS_FAILED;
	if (err && !report.status)
		report.status = STATUS_NO_DATA;
	stat__delete(cmd->run.stat);
	cmd->run.stat = NULL;
	data_events__clear(&report.events);
	data_reader__delete(report.reader);
	return report.status;
}

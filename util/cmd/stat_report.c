// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/stat_report.h"

#include "util/cmd/stat_cmd.h"
#include "util/cmd/stat_evlist.h"
#include "util/cmd/stat_output.h"
#include "util/data/reader.h"
#include "util/data/replay.h"
#include "util/event/counts.h"
#include "util/event/evlist.h"
#include "util/event/tool_values.h"
#include "util/host/cpumap.h"
#include "util/host/topology.h"
#include "util/lib/msg.h"
#include "util/lib/program.h"
#include "util/lib/util.h"
#include "util/report/stat.h"
#include "util/target/thread_map.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report {
	struct stat_cmd *cmd;
	struct data_reader *reader;
	struct data_replay events;
	bool is_ready; /* the counts of all events have a place */
	bool is_over;  /* the final round has come */
	uint64_t nr_rounds;
	struct stat_times times; /* as of the last round */
	char *argv[2];		 /* what stands for a command that was counted */
	enum stat_status status; /* of a failure; STATUS_OK: STATUS_NO_DATA */
};

/* --- choices --- */

/* Modes had other numbers before --per-cache, and before --per-cluster. */
static enum aggr_mode recorded_mode(const struct report *report)
{
	static const enum aggr_mode first[] = {AGGR_CORE, AGGR_THREAD, AGGR_UNSET, AGGR_NODE};
	static const enum aggr_mode second[] = {AGGR_CACHE, AGGR_CORE, AGGR_THREAD, AGGR_UNSET,
						AGGR_NODE};
	const struct data_config *config = &report->events.config;
	const char *version = data_reader__header_fields(report->reader)->version;
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
	struct topology *topology = data_reader__header_fields(report->reader)->topology;
	char *at = report->events.annotations.clusters, *end;

	for (int cpu = 0; at && topology && cpu < topology->nr_cpus; cpu++, at = end) {
		unsigned long id = strtoul(at, &end, 10);

		if (end == at || id > INT_MAX)
			break;
		topology->cpus[cpu].cluster = id;
	}
	return topology;
}

/* Return: why the data have no rows of that mode; NULL: they have. */
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
	/* Streams of Linux's perf do not describe the machine: assume this one. */
	if (!data_reader__header_fields(report->reader)->topology)
		return is_stream ? NULL : "they do not say where the CPUs are";
	if (mode == AGGR_CLUSTER && !report->events.annotations.clusters)
		return "they do not say which CPUs are a cluster";
	return NULL;
}

static int choose_rows(struct report *report)
{
	struct stat_config *config = &report->cmd->run.config;
	bool is_asked = config->options.aggr_mode != AGGR_UNSET;
	char *renamed __cleanup(free_ptr) = NULL;
	const char *missing;

	if (!is_asked) {
		config->options.aggr_mode = recorded_mode(report);
		if (!config->options.cache_level &&
		    report->events.config.cache_level <= NR_CACHE_LEVELS)
			config->options.cache_level = report->events.config.cache_level;
	}
	if (config->options.aggr_mode == AGGR_UNSET)
		config->options.aggr_mode = AGGR_GLOBAL;
	config->env.topology = topology(report);
	missing = missing_for(report, config->options.aggr_mode);
	/* The run itself falls back the same way. */
	if (missing && !is_asked)
		config->options.aggr_mode = AGGR_GLOBAL;
	if (!missing || !is_asked)
		return config->options.aggr_mode == AGGR_GLOBAL ?
			       0 :
			       data_replay__check_rows(&report->events,
						       config->options.aggr_mode == AGGR_THREAD);
	renamed = program__rename(missing);
	pr_err("the counts cannot be broken down like that: %s", renamed ? renamed : missing);
	report->status = STATUS_INVALID;
	return -EINVAL;
}

/* Restore the target: footers and some metrics depend on it. */
static void set_target(struct report *report)
{
	const struct annotations *annotations = &report->events.annotations;
	struct target *target = &report->cmd->run.target;

	report->argv[0] = "";
	memset(target, 0, sizeof(*target));
	if (annotations->is_workload) {
		target->argv = report->argv;
		target->argc = 1;
	} else if (report->events.threads && !annotations->is_system_wide) {
		target->pid_list = "";
	} else {
		target->system_wide = true;
	}
}

/* Find the recorded metrics with the same sets of events; skip them if that fails. */
static int find_metrics(struct report *report)
{
	struct annotations *annotations = &report->events.annotations;
	struct metric_options *plan = &report->cmd->metrics;
	struct stat_cmd *cmd = report->cmd;
	struct evlist *scratch;
	int err = 0;

	*plan = annotations->metrics;
	annotations->metrics.names = NULL;
	if (plan->td_level > MAX_TD_LEVEL)
		plan->td_level = 1;
	stat_cmd__set_metric_scope(cmd);
	if (metric_options__is_empty(plan) && !annotations->has_defaults)
		return 0;
	scratch = evlist__new();
	if (!scratch)
		return -ENOMEM;
	if (!metric_options__is_empty(plan))
		err = metric_options__add_events(plan, scratch);
	else
		err = metric_options__add_defaults(plan, scratch, annotations->detail);
	evlist__delete(scratch);
	if (err && err != -ENOMEM) {
		pr_warn("some recorded metrics are not available here: skipped");
		metric_requests__clear(&plan->requests);
		err = 0;
	}
	return err;
}

/* --- the rounds --- */

/* Choose rows, target and metrics when the first counts come. */
static int get_ready(struct report *report)
{
	struct stat_cmd *cmd = report->cmd;
	struct stat_config *config = &cmd->run.config;
	int err = data_replay__complete(&report->events);

	/* The recorded options were read on top of those of this command line. */
	config->options = report->events.annotations.options;
	if (!err)
		err = choose_rows(report);
	if (err)
		return err;
	config->options.interval_ms = report->events.config.interval_ms;
	config->options.no_scale |= !report->events.config.scale;
	config->env.title = data_reader__is_stream(report->reader) ?
				    "pipe" :
				    data_reader__header_fields(report->reader)->command;
	set_target(report);
	err = find_metrics(report);
	if (err)
		return err;
	err = stat_cmd__open_output(cmd);
	if (err) {
		report->status = err == -EINVAL ? STATUS_INVALID : STATUS_FAILED;
		return err;
	}
	cmd->stat = stat__new(config, cmd->evlist);
	report->is_ready = true;
	return cmd->stat ? 0 : -errno;
}

static int take_round(struct report *report, struct data_record *record)
{
	struct data_round_end round;
	int err = data_replay__take_round(&report->events, record, &round);

	if (err)
		return err;
	report->nr_rounds++;
	report->times.elapsed_ns = round.time_ns;
	report->times.user_ns = round.user_ns;
	report->times.sys_ns = round.sys_ns;
	report->is_over = round.is_final;
	return round.is_final ? 0 : stat__interval(report->cmd->stat, round.time_ns);
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
	/* Ignore counts after the final round: they are not of the session. */
	if (has_counts && report->is_over)
		return 0;
	switch (record->type) {
	case RECORD_STAT:
		return data_replay__take_stat(&report->events, record);
	case RECORD_STAT_ROUND:
		return take_round(report, record);
	default:
		/* Ignore descriptions of events after the first counts. */
		return report->is_ready ? 0 : data_replay__take(&report->events, record);
	}
}

static int finish(struct report *report)
{
	struct stat *stat = report->cmd->stat;
	int err;

	/* Intervals need no final round. */
	if (!report->is_over && !(report->nr_rounds && report->cmd->run.config.options.interval_ms))
		return data_replay__cut_short(&report->events);
	err = stat__add_repeat(stat, &report->times);
	return err ? err : stat__print(stat);
}

enum stat_status stat_report__print(struct stat_cmd *cmd, const char *path)
{
	struct report report = {.cmd = cmd};
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
	report.events.annotations.options = cmd->run.config.options;
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
	if (cmd->run.config.env.output && stat_cmd__close_output(cmd) && !err)
		report.status = STATUS_FAILED;
	if (err && !report.status)
		report.status = STATUS_NO_DATA;
	stat__delete(cmd->stat);
	cmd->stat = NULL;
	data_replay__clear(&report.events);
	data_reader__delete(report.reader);
	return report.status;
}

// SPDX-License-Identifier: GPL-2.0
/* Which events a command line counts: its own, those of metrics, the default ones; in which cgroups. */
#include "stat_cmd.h"

#include "cgroup.h"
#include "default_events.h"
#include "evlist.h"
#include "msg.h"
#include "pmu.h"
#include "tool_facts.h"
#include "util.h"

#include <errno.h>
#include <string.h>

/* In BPF programs; cpu-clock is their time, and there is no other kind of task they could run as. */
static const char default_prog_events[] =
	"bpf_runs,cpu-clock,cycles,instructions,branches,branch-misses";

/* No task has it: an event of an uncore PMU, or the time. */
static bool is_of_system(const struct evsel *evsel)
{
	return (evsel->pmu && evsel->pmu->is_uncore) || evsel->tool == TOOL_DURATION_TIME;
}

void stat_cmd__widen_target(struct stat_cmd *cmd)
{
	struct target *target = &cmd->run.target;
	struct evsel *evsel;
	int i;

	if (!target__has_task(target) || target__is_attached(target) || !cmd->evlist->nr)
		return;
	evlist__for_each(cmd->evlist, evsel, i) {
		if (!is_of_system(evsel))
			return;
	}
	target->system_wide = true;
}

/* A single name stands for all events before its -G. */
static void use_G(struct stat_cmd *cmd)
{
	int nr = cmd->nr_cgroups == 1 ? cmd->nr_before_G : cmd->nr_cgroups;

	for (int i = 0; i < nr && i < cmd->evlist->nr; i++)
		cmd->evlist->evsels[i]->cgroup = cmd->cgroup_of[cmd->nr_cgroups == 1 ? 0 : i];
	for (int i = 0; i < cmd->run.plan.cgroups->nr; i++)
		cmd->run.plan.cgroups->cgroups[i]->state = CGROUP_LIVE;
}

static int check_sort(const struct stat_cmd *cmd)
{
	const char *name = cmd->run.config.sort_event;
	struct evsel *evsel;
	int i;

	evlist__for_each(cmd->evlist, evsel, i) {
		if (!name || !strcmp(evsel->name, name))
			return 0;
	}
	pr_err("--sort %s: not one of the events that are counted", name ? name : "");
	return -EINVAL;
}

static int repeat_for_each(struct stat_cmd *cmd)
{
	struct cgroup_list *list = cmd->run.plan.cgroups;
	int nr = cmd->evlist->nr, err;

	err = check_sort(cmd);
	if (!err)
		err = cgroup_list__parse(list, cmd->each_cgroup, cmd->run.config.interval_ms);
	/* While there is none yet, the events wait in the first one's place. */
	if (!err && !list->nr)
		err = cgroup_list__add_place(list);
	for (int i = 0; i < list->nr && !err; i++) {
		int first = i ? evlist__repeat(cmd->evlist, nr, list->cgroups[i]) : 0;

		err = first < 0 ? first : 0;
		for (int e = 0; e < nr && !i; e++)
			cmd->evlist->evsels[e]->cgroup = list->cgroups[0];
		if (list->cgroups[i]->state == CGROUP_NEW)
			list->cgroups[i]->state = CGROUP_LIVE;
	}
	cmd->run.config.for_each_cgroup = true;
	return err;
}

void stat_cmd__set_metric_scope(struct stat_cmd *cmd)
{
	struct metric_request_options *options = &cmd->metrics.options;

	options->scope.defs = cmd->defs;
	options->scope.pmus = cmd->pmus;
	options->scope.target = &cmd->run.target;
	options->scope.target_cpu = !target__has_task(&cmd->run.target);
	options->scope.literal = tool__literal;
	cmd->run.config.requests = &cmd->metrics.requests;
}

int stat_cmd__add_metrics(struct stat_cmd *cmd)
{
	const struct stat_config *config = &cmd->run.config;

	if (cmd->metrics.td_level > MAX_TD_LEVEL) {
		pr_err("--td-level: at most %d", MAX_TD_LEVEL);
		return STATUS_INVALID;
	}
	stat_cmd__set_metric_scope(cmd);
	/* Thresholds only colour, and in these formats there is nothing to be coloured. */
	cmd->metrics.options.no_threshold |= config->csv_sep || (config->metric_only && config->json);
	switch (metric_plan__add_events(&cmd->metrics, cmd->evlist)) {
	case 0:
		return 0;
	case -ENOENT:
		return STATUS_NO_METRIC;
	case -EINVAL:
		return STATUS_INVALID;
	default:
		return STATUS_FAILED;
	}
}

/*
 * In BPF programs: where nothing is asked for, what says most of them; and in any case how many runs
 * the counts are of.
 */
static int add_prog_events(struct stat_cmd *cmd)
{
	static const struct parse_events_options options = { .quiet = true };
	struct parse_error error = {};
	int err = 0, first;

	if (!cmd->evlist->nr && !cmd->run.config.null_run)
		err = parse_events_opts(cmd->evlist, cmd->pmus, default_prog_events, &options, &error);
	if (cmd->all_user || cmd->all_kernel)
		evlist__only_level(cmd->evlist, cmd->all_user);
	if (!err)
		err = evlist__uniquify_names(cmd->evlist, cmd->run.config.aggr_mode == AGGR_NONE);
	first = cmd->evlist->nr;
	if (!err && first)
		err = parse_events_opts(cmd->evlist, cmd->pmus, "bpf_runs", &options, &error);
	parse_error__clear(&error);
	if (err || !first)
		return err;
	cmd->evlist->evsels[first]->runs = RUNS_EXACT;
	cmd->evlist->evsels[first]->hidden = true;
	return 0;
}

int stat_cmd__add_events(struct stat_cmd *cmd)
{
	const struct stat_config *config = &cmd->run.config;
	int err;

	if (cmd->run.plan.progs)
		return add_prog_events(cmd);
	if (!cmd->evlist->nr && metric_plan__is_empty(&cmd->metrics) && !config->null_run) {
		err = default_events__add(cmd->evlist, cmd->pmus,
					  !target__has_task(&cmd->run.target), cmd->detail);
		if (!err)
			err = metric_plan__add_defaults(&cmd->metrics, cmd->evlist, cmd->detail);
		if (err)
			return err;
	}
	if (cmd->all_user || cmd->all_kernel)
		evlist__only_level(cmd->evlist, cmd->all_user);
	err = evlist__uniquify_names(cmd->evlist, config->aggr_mode == AGGR_NONE);
	if (!err && cmd->nr_cgroups)
		use_G(cmd);
	if (!err && cmd->each_cgroup)
		err = repeat_for_each(cmd);
	return err;
}

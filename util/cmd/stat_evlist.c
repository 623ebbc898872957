// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/stat_evlist.h"

#include "util/cmd/stat_cmd.h"
#include "util/event/default_events.h"
#include "util/event/evlist.h"
#include "util/event/pmu.h"
#include "util/event/tool_values.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/target/cgroup_list.h"

#include <errno.h>
#include <string.h>

/* For BPF programs, cpu-clock is their time: task-clock has no meaning for them. */
static const char default_prog_events[] =
	"bpf_runs,cpu-clock,cycles,instructions,branches,branch-misses";

/* Return: whether no task has the event: it is of an uncore PMU, or the elapsed time. */
static bool is_of_system(const struct evsel *evsel)
{
	return (evsel->pmu && evsel->pmu->is_uncore) || evsel->tool == TOOL_DURATION_TIME;
}

/* Return: whether the target was changed to all CPUs, as no event can be counted in a task. */
static bool widen_target(struct stat_cmd *cmd)
{
	struct target *target = &cmd->run.target;
	struct evsel *evsel;
	int i;

	if (!target__has_task(target) || target__is_attached(target) || !cmd->evlist->nr)
		return false;
	evlist__for_each(cmd->evlist, evsel, i) {
		if (!is_of_system(evsel))
			return false;
	}
	target->system_wide = true;
	return true;
}

/* Assign the cgroups of -G; a single name applies to all preceding events. */
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
	const char *name = cmd->run.config.options.sort_event;
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
		err = cgroup_list__parse(list, cmd->each_cgroup,
					 cmd->run.config.options.interval_ms);
	/* No cgroup yet: keep one placeholder entry so the events exist. */
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
	cmd->run.config.options.for_each_cgroup = true;
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
	cmd->run.config.env.requests = &cmd->metrics.requests;
}

static int add_metrics(struct stat_cmd *cmd)
{
	stat_cmd__set_metric_scope(cmd);
	return metric_options__add_events(&cmd->metrics, cmd->evlist);
}

/* Add the events of --iostat, which prints a line for each port. */
static int add_ports(struct stat_cmd *cmd)
{
	int err;

	if (!cmd->has_iostat || cmd->has_e)
		return 0;
	cmd->run.config.options.metric_only = true;
	err = io_ports__add_events(&cmd->io_ports, cmd->evlist, cmd->pmus);
	if (err == -ENOMEM)
		pr_err("out of memory");
	return err;
}

int stat_cmd__add_metrics(struct stat_cmd *cmd)
{
	const struct report_options *options = &cmd->run.config.options;
	int nr_given, err;

	if (cmd->metrics.td_level > MAX_TD_LEVEL) {
		pr_err("--td-level: at most %d", MAX_TD_LEVEL);
		return -EINVAL;
	}
	if (add_ports(cmd))
		return -EINVAL;
	nr_given = cmd->evlist->nr;
	/* Thresholds only select a colour, and these formats have none. */
	cmd->metrics.options.no_threshold |=
		options->csv_sep || (options->metric_only && options->json);
	err = add_metrics(cmd);
	if (err || !widen_target(cmd) || metric_options__is_empty(&cmd->metrics))
		return err;
	/* With #target_cpu, metrics may need other events. */
	metric_requests__clear(&cmd->metrics.requests);
	evlist__truncate(cmd->evlist, nr_given);
	return add_metrics(cmd);
}

/*
 * -b: add default events if none were given, and always a hidden bpf_runs for averages.
 */
static int add_prog_events(struct stat_cmd *cmd)
{
	static const struct parse_events_options options = {.quiet = true};
	struct parse_error error = {};
	int err = 0, first;

	if (!cmd->evlist->nr && !cmd->run.config.options.null_run)
		err = parse_events_opts(cmd->evlist, cmd->pmus, default_prog_events, &options,
					&error);
	if (cmd->all_user || cmd->all_kernel)
		evlist__only_level(cmd->evlist, cmd->all_user);
	if (!err)
		err = evlist__uniquify_names(cmd->evlist,
					     cmd->run.config.options.aggr_mode == AGGR_NONE);
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

static int add_events(struct stat_cmd *cmd)
{
	const struct report_options *options = &cmd->run.config.options;
	int err;

	if (cmd->run.plan.progs)
		return add_prog_events(cmd);
	if (!cmd->evlist->nr && metric_options__is_empty(&cmd->metrics) && !options->null_run) {
		err = default_events__add(cmd->evlist, cmd->pmus,
					  !target__has_task(&cmd->run.target), cmd->detail);
		if (!err)
			err = metric_options__add_defaults(&cmd->metrics, cmd->evlist, cmd->detail);
		if (err)
			return err;
	}
	if (cmd->all_user || cmd->all_kernel)
		evlist__only_level(cmd->evlist, cmd->all_user);
	err = evlist__uniquify_names(cmd->evlist, options->aggr_mode == AGGR_NONE);
	if (!err && cmd->nr_cgroups)
		use_G(cmd);
	if (!err && cmd->each_cgroup)
		err = repeat_for_each(cmd);
	return err;
}

int stat_cmd__add_events(struct stat_cmd *cmd)
{
	int err = add_events(cmd);

	if (err == -ENOMEM)
		pr_err("out of memory");
	return err && err != -ENOMEM ? -EINVAL : err;
}

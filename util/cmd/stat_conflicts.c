// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/stat_conflicts.h"

#include "util/cmd/stat_cmd.h"
#include "util/event/evlist.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/target/cgroup_list.h"

#include <errno.h>
#include <string.h>

struct conflict {
	bool both;
	const char *text;
};

static bool is_sharing(const struct stat_cmd *cmd)
{
	bool is_sharing = cmd->run.share_all;
	struct evsel *evsel;
	int i;

	evlist__for_each(cmd->evlist, evsel, i)
		is_sharing |= evsel->share;
	return is_sharing;
}

static int refuse(const struct conflict *conflicts, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		if (conflicts[i].both) {
			pr_err("%s", conflicts[i].text);
			return -EINVAL;
		}
	}
	return 0;
}

int stat_cmd__check_output(const struct stat_cmd *cmd)
{
	const struct report_options *options = &cmd->run.config.options;
	const struct conflict conflicts[] = {
		{options->csv_sep && options->json, "-x and -j are mutually exclusive"},
		{options->csv_sep && cmd->big_num, "-B and -x are mutually exclusive"},
		{cmd->output_path && cmd->log_fd != NO_LOG_FD,
		 "-o and --log-fd are mutually exclusive"},
		{cmd->log_fd < 0 && cmd->log_fd != NO_LOG_FD, "--log-fd: not a descriptor"},
	};

	return refuse(conflicts, ARRAY_SIZE(conflicts));
}

int stat_cmd__check_record(const struct stat_cmd *cmd)
{
	const struct conflict conflicts[] = {
		{cmd->run.config.options.run_count != 1, "record and -r are mutually exclusive"},
		{cmd->run.target.bpf_list,
		 "record and -b: counts of BPF programs cannot be recorded"},
		{cmd->run.plan.cgroups->follows,
		 "record and --for-each-cgroup with patterns and -I: cgroups that come cannot be recorded"},
		{cmd->has_iostat, "record and --iostat are mutually exclusive"},
		{!cmd->evlist->nr, "record and --null without -e: there is nothing to record"},
	};

	return refuse(conflicts, ARRAY_SIZE(conflicts));
}

int stat_cmd__check(const struct stat_cmd *cmd)
{
	const struct report_options *options = &cmd->run.config.options;
	const struct target *target = &cmd->run.target;
	bool is_topology = options->aggr_mode != AGGR_GLOBAL && options->aggr_mode != AGGR_THREAD &&
			   options->aggr_mode != AGGR_PROG;
	const struct conflict conflicts[] = {
		{cmd->metrics.names && options->no_metrics,
		 "-M and --no-metrics are mutually exclusive"},
		{cmd->has_iostat && (cmd->has_e || cmd->metrics.names),
		 "--iostat and -e or -M are mutually exclusive"},
		{cmd->has_iostat && options->aggr_mode != AGGR_GLOBAL,
		 "--iostat and a breakdown by CPU, core and the like are mutually exclusive"},
		{cmd->has_iostat && (cmd->nr_cgroups || cmd->each_cgroup || target->bpf_list),
		 "--iostat and cgroups or BPF programs are mutually exclusive"},
		{cmd->has_iostat && target__is_attached(target),
		 "--iostat and -p or -t are mutually exclusive"},
		{options->run_count < 0, "-r: the number of repeats is negative"},
		{options->run_count != 1 && !target->argc && !cmd->run.timeout_ms &&
			 !cmd->run.interval_count,
		 "-r requires a command, --timeout or --interval-count"},
		{options->metric_only && options->run_count > 1,
		 "--metric-only and -r are mutually exclusive"},
		{options->metric_only && target->per_thread,
		 "--metric-only and --per-thread are mutually exclusive"},
		{options->table && options->run_count <= 1, "--table needs -r N with N > 1"},
		{is_topology && target__has_task(target) && !is_sharing(cmd),
		 "a breakdown by CPU, core and the like needs -a or -C, or --bpf-counters"},
		{cmd->run.timeout_ms && options->interval_ms,
		 "--timeout and -I are mutually exclusive"},
		{cmd->run.interval_count && !options->interval_ms, "--interval-count needs -I"},
		{cmd->run.timeout_ms && cmd->run.timeout_ms < 10, "--timeout: at least 10 ms"},
		{options->interval_clear && !options->interval_ms, "--interval-clear needs -I"},
		{cmd->run.delay_ms < -1, "-D: a number of milliseconds, or -1"},
		{cmd->run.delay_ms == -1 && !cmd->control_spec && !target->argc,
		 "-D -1 requires --control or a command"},
		{cmd->nr_cgroups && cmd->each_cgroup,
		 "-G and --for-each-cgroup are mutually exclusive"},
		{(cmd->nr_cgroups || cmd->each_cgroup) &&
			 (target__has_task(target) || target->per_thread),
		 "a cgroup is counted on CPUs: -G and --for-each-cgroup need -a or -C"},
		{options->sort_event && !cmd->each_cgroup, "--sort needs --for-each-cgroup"},
		{options->top && !cmd->each_cgroup, "--top needs --for-each-cgroup"},
		{target->bpf_list && (cmd->nr_cgroups || cmd->each_cgroup),
		 "-b and -G or --for-each-cgroup are mutually exclusive"},
		{options->aggr_mode == AGGR_PROG && !target->bpf_list, "--per-prog needs -b"},
	};

	return stat_cmd__check_output(cmd) ? -EINVAL : refuse(conflicts, ARRAY_SIZE(conflicts));
}

void stat_cmd__warn(const struct stat_cmd *cmd)
{
	const struct target *target = &cmd->run.target;

	if (target->argc && !strcmp(target->argv[0], "sleep") && target__has_task(target) &&
	    !target__is_attached(target))
		pr_verbose(
			"counting `sleep` without `-a`: what others do meanwhile is not counted");
	if (cmd->record_tpebs)
		pr_hint("--record-tpebs and --tpebs-mode have no effect: no event here has a retirement latency (Intel's timed PEBS)\n");
	if (cmd->run.timeout_ms && cmd->run.timeout_ms < 100)
		pr_hint("--timeout %u: below 100 ms the overhead may show in the counts\n",
			cmd->run.timeout_ms);
}

// SPDX-License-Identifier: GPL-2.0
/* What a command line asks for that cannot be meant together, or is hardly meant. */
#include "stat_cmd.h"

#include "cgroup.h"
#include "evlist.h"
#include "msg.h"
#include "util.h"

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
	const struct stat_config *config = &cmd->run.config;
	const struct conflict conflicts[] = {
		{ config->csv_sep && config->json, "-x and -j: one output format at a time" },
		{ config->csv_sep && cmd->big_num, "-B and -x: fields are never grouped" },
		{ cmd->append && !cmd->output_path && cmd->log_fd == NO_LOG_FD,
		  "--append needs a file to append to: -o or --log-fd" },
		{ cmd->output_path && cmd->log_fd != NO_LOG_FD, "-o and --log-fd: one place to print to" },
		{ cmd->log_fd < 0 && cmd->log_fd != NO_LOG_FD, "--log-fd: not a descriptor" },
	};

	return refuse(conflicts, ARRAY_SIZE(conflicts));
}

int stat_cmd__check_record(const struct stat_cmd *cmd)
{
	const struct conflict conflicts[] = {
		{ cmd->run.config.run_count != 1, "record and -r: one run at a time is recorded" },
		{ cmd->run.target.bpf_list, "record and -b: counts of BPF programs cannot be recorded" },
		{ cmd->run.plan.cgroups->follows,
		  "record and --for-each-cgroup with patterns and -I: cgroups that come cannot be recorded" },
		{ !cmd->evlist->nr, "record and --null without -e: there is nothing to record" },
	};

	return refuse(conflicts, ARRAY_SIZE(conflicts));
}

int stat_cmd__check(const struct stat_cmd *cmd)
{
	const struct stat_config *config = &cmd->run.config;
	const struct target *target = &cmd->run.target;
	bool is_topology = config->aggr_mode != AGGR_GLOBAL && config->aggr_mode != AGGR_THREAD &&
			   config->aggr_mode != AGGR_PROG;
	const struct conflict conflicts[] = {
		{ cmd->metrics.names && config->no_metrics, "-M and --no-metrics: one or the other" },
		{ config->run_count < 0, "-r: the number of runs is negative" },
		{ config->run_count != 1 && !target->argc && !cmd->run.timeout_ms &&
			  !cmd->run.interval_count,
		  "-r needs what ends: a command to repeat, or --timeout" },
		{ config->metric_only && config->run_count > 1, "--metric-only and -r: not together" },
		{ config->metric_only && target->per_thread,
		  "--metric-only and --per-thread: not together" },
		{ config->table && config->run_count <= 1, "--table needs -r N with N > 1" },
		{ is_topology && target__has_task(target) && !is_sharing(cmd),
		  "a breakdown by CPU, core and the like needs -a or -C, or --bpf-counters" },
		{ cmd->run.timeout_ms && config->interval_ms, "--timeout and -I: not together" },
		{ cmd->run.interval_count && !config->interval_ms, "--interval-count needs -I" },
		{ cmd->run.timeout_ms && cmd->run.timeout_ms < 10, "--timeout: at least 10 ms" },
		{ config->interval_clear && !config->interval_ms, "--interval-clear needs -I" },
		{ cmd->run.delay_ms < -1, "-D: a number of milliseconds, or -1" },
		{ cmd->run.delay_ms == -1 && !cmd->control_spec && !target->argc,
		  "-D -1: nothing would ever be counted without --control" },
		{ cmd->nr_cgroups && cmd->each_cgroup, "-G and --for-each-cgroup: not together" },
		{ (cmd->nr_cgroups || cmd->each_cgroup) &&
			  (target__has_task(target) || target->per_thread),
		  "a cgroup is counted on CPUs: -G and --for-each-cgroup need -a or -C" },
		{ config->sort_event && !cmd->each_cgroup, "--sort needs --for-each-cgroup" },
		{ config->top && !cmd->each_cgroup, "--top needs --for-each-cgroup" },
		{ target->bpf_list && (cmd->nr_cgroups || cmd->each_cgroup),
		  "-b and -G or --for-each-cgroup: not together: BPF programs are counted whoever runs them" },
		{ config->aggr_mode == AGGR_PROG && !target->bpf_list, "--per-prog needs -b" },
	};

	return stat_cmd__check_output(cmd) ? -EINVAL : refuse(conflicts, ARRAY_SIZE(conflicts));
}

void stat_cmd__warn(const struct stat_cmd *cmd)
{
	const struct target *target = &cmd->run.target;

	if (target->argc && !strcmp(target->argv[0], "sleep") && target__has_task(target) &&
	    !target__is_attached(target))
		pr_text("Warning:\ncounting `sleep` without `-a`: what others do meanwhile is not counted\n");
	if (cmd->run.timeout_ms && cmd->run.timeout_ms < 100)
		pr_text("Warning:\n--timeout %u: below 100 ms the overhead may show in the counts\n",
			cmd->run.timeout_ms);
}

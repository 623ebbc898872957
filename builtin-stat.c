// SPDX-License-Identifier: GPL-2.0
/* perf stat: from the command line to a plan; util/stat_run.c carries it out. */
#include "builtin.h"

#include "util/bpf_target.h"
#include "util/capability.h"
#include "util/cgroup.h"
#include "util/config.h"
#include "util/control.h"
#include "util/default_events.h"
#include "util/definitions.h"
#include "util/evlist.h"
#include "util/metric_plan.h"
#include "util/msg.h"
#include "util/options.h"
#include "util/parse_events.h"
#include "util/pfm.h"
#include "util/pmu.h"
#include "util/stat.h"
#include "util/stat_run.h"
#include "util/target.h"
#include "util/tool_facts.h"
#include "util/thread_map.h"
#include "util/util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define STATUS_FAILED 1
#define STATUS_NO_METRIC 2
#define STATUS_INVALID 22
#define STATUS_NO_RECORD 255
#define NO_LOG_FD INT_MIN

static const char usage[] =
	"perf stat [<options>] [<command>]\n"
	"    or: perf stat [<options>] -a | -C <cpus> | -p <pids> | -t <tids> | -b <programs> [-- <command>]";

/* The one thing that signal handlers write. */
static volatile sig_atomic_t got_signal;

static void on_signal(int sig)
{
	got_signal = sig;
}

struct stat_cmd {
	struct stat_run run;
	struct definitions *defs;
	struct pmus *pmus;
	struct evlist *evlist;
	struct metric_plan metrics;
	struct bpf_targets *progs;	/* -b */
	struct control control;
	struct config settings;		/* of the configuration files */
	struct parse_events_options parse;	/* of the -e that follow */
	int last_e;			/* index of the first event of the last -e */
	bool has_e;
	bool all_user, all_kernel;
	int detail;			/* -d */
	bool no_big_num, big_num;
	const struct cgroup **cgroup_of;	/* -G: by event, NULL: unrestricted */
	int nr_cgroups, nr_before_G;	/* places of those; events given before the last -G */
	const char *each_cgroup;	/* --for-each-cgroup LIST */
	const char *control_spec;	/* --control; NULL: none */
	bool has_control;		/* it has been opened */
	const char *pre, *post;		/* commands before and after each run */
	bool sync;			/* -S: flush file systems before each run */
	const char *output_path;	/* -o */
	int log_fd;
	bool append;
	bool quiet;
	FILE *file;			/* what -o or --log-fd opened; NULL: stderr */
};

/* --- options with a meaning of their own --- */

/* In BPF programs; cpu-clock is their time, and there is no other kind of task they could run as. */
static const char default_prog_events[] =
	"bpf_runs,cpu-clock,cycles,instructions,branches,branch-misses";

static int parse_e(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;
	struct parse_error error = {};
	int first = cmd->evlist->nr, err;

	err = parse_events_opts(cmd->evlist, cmd->pmus, arg, &cmd->parse, &error);
	if (err == -EINVAL)
		parse_error__print(&error);
	else if (err)
		pr_err("%s", strerror(-err));
	parse_error__clear(&error);
	if (err)
		return -EINVAL;
	cmd->last_e = first;
	cmd->has_e = true;
	return 0;
}

static int parse_pfm_events(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;
	struct parse_error error = {};
	int first = cmd->evlist->nr, err;

	err = pfm__parse(cmd->evlist, cmd->pmus, arg, &error);
	if (err == -EINVAL)
		parse_error__print(&error);
	else if (err == -ENOSYS)
		pr_err("--pfm-events: this perf was built without libpfm4");
	else if (err)
		pr_err("%s", strerror(-err));
	parse_error__clear(&error);
	cmd->last_e = first;
	cmd->has_e |= !err;
	return err ? -EINVAL : 0;
}

/* Whether an option that changes how -e is read comes in time; says so when not. */
static bool is_before_events(const struct stat_cmd *cmd, const char *option)
{
	if (cmd->has_e)
		pr_err("%s comes after -e: it only acts on the events behind it", option);
	return !cmd->has_e;
}

static int parse_cputype(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;

	if (!is_before_events(cmd, "--cputype"))
		return -EINVAL;
	if (!pmus__set_cputype(cmd->pmus, arg))
		return 0;
	pr_err("--cputype %s: there is no such core PMU", arg);
	return -EINVAL;
}

static int parse_pmu_filter(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;

	if (!is_before_events(cmd, "--pmu-filter"))
		return -EINVAL;
	if (!pmus__set_filter(cmd->pmus, arg))
		return 0;
	pr_err("--pmu-filter %s: there is no such PMU (see %s/bus/event_source/devices)", arg,
	       sysfs_root());
	return -EINVAL;
}

static int set_hybrid_merge(void *ctx, const char *arg __unused)
{
	struct stat_cmd *cmd = ctx;

	cmd->parse.hybrid_merge = true;
	return is_before_events(cmd, "--hybrid-merge") ? 0 : -EINVAL;
}

static int parse_metrics(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;

	return metric_plan__add_names(&cmd->metrics, arg) ? -EINVAL : 0;
}

/* The CPU's own groups of metrics. Those of --topdown and --smi-cost say more than counts do. */
static int set_topdown(void *ctx, const char *arg __unused)
{
	struct stat_cmd *cmd = ctx;

	cmd->metrics.topdown = true;
	cmd->run.config.metric_only = true;
	return 0;
}

static int set_smi_cost(void *ctx, const char *arg __unused)
{
	struct stat_cmd *cmd = ctx;

	cmd->metrics.smi_cost = true;
	cmd->run.config.metric_only = true;
	return 0;
}

static int parse_metrics_file(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;

	if (!is_before_events(cmd, "--metrics-file"))
		return -EINVAL;
	return definitions__add_file(cmd->defs, arg) ? -EINVAL : 0;
}

static int only_level(bool *this, bool other)
{
	*this = true;
	if (other)
		pr_err("--all-user and --all-kernel: only one of them");
	return other ? -EINVAL : 0;
}

static int set_all_user(void *ctx, const char *arg __unused)
{
	struct stat_cmd *cmd = ctx;

	return only_level(&cmd->all_user, cmd->all_kernel);
}

static int set_all_kernel(void *ctx, const char *arg __unused)
{
	struct stat_cmd *cmd = ctx;

	return only_level(&cmd->all_kernel, cmd->all_user);
}

static int parse_filter(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;

	if (!cmd->has_e) {
		pr_err("--filter '%s' comes before any event: it belongs to the last -e", arg);
		return -EINVAL;
	}
	return evlist__set_filter(cmd->evlist, cmd->last_e, arg);
}

/* The n-th name, of all -G together, belongs to the n-th event; one with an empty name is free. */
static int add_G(struct stat_cmd *cmd, const char *name)
{
	const struct cgroup **cgroup_of;
	const struct cgroup *cgroup = NULL;

	if (cmd->nr_cgroups == cmd->evlist->nr) {
		pr_err("-G: more cgroups than events: there are %d before it", cmd->evlist->nr);
		return -EINVAL;
	}
	if (*name) {
		cgroup = cgroup_list__add(cmd->run.plan.cgroups, name);
		if (!cgroup)
			return -EINVAL;
	}
	cgroup_of = realloc(cmd->cgroup_of, (cmd->nr_cgroups + 1) * sizeof(*cgroup_of));
	if (!cgroup_of)
		return -EINVAL;
	cmd->cgroup_of = cgroup_of;
	cgroup_of[cmd->nr_cgroups++] = cgroup;
	return 0;
}

static int parse_G(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;
	char *names __cleanup(free_ptr) = strdup(arg);
	char *rest = names, *name;
	int err = 0;

	if (!cmd->evlist->nr) {
		pr_err("-G %s comes before any event: give it after -e", arg);
		return -EINVAL;
	}
	cmd->nr_before_G = cmd->evlist->nr;
	while (!err && (name = strsep(&rest, ",")))
		err = add_G(cmd, name);
	return err;
}

static int parse_interval(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;
	char *end;
	unsigned long ms = strtoul(arg, &end, 10);

	if (end == arg || *end || *arg == '-' || ms > UINT_MAX / 2) {
		pr_err("-I %s: not a number of milliseconds", arg);
		return -EINVAL;
	}
	cmd->run.config.interval_ms = ms;
	return 0;
}

/* Finest wins, whatever the order: ranks as in the output reference. */
static void set_aggr(struct stat_cmd *cmd, enum aggr_mode mode)
{
	static const enum aggr_mode finest_first[] = {
		AGGR_NONE, AGGR_PROG, AGGR_THREAD, AGGR_CORE, AGGR_CACHE, AGGR_CLUSTER,
		AGGR_DIE, AGGR_SOCKET, AGGR_NODE, AGGR_GLOBAL,
	};

	for (size_t i = 0; i < ARRAY_SIZE(finest_first); i++) {
		if (finest_first[i] == cmd->run.config.aggr_mode)
			return;
		if (finest_first[i] == mode) {
			cmd->run.config.aggr_mode = mode;
			return;
		}
	}
}

#define DEFINE_AGGR(name, mode)                                                                    \
	static int name(void *ctx, const char *arg __unused)                                       \
	{                                                                                          \
		set_aggr(ctx, mode);                                                               \
		return 0;                                                                          \
	}

DEFINE_AGGR(aggr_none, AGGR_NONE)
DEFINE_AGGR(aggr_core, AGGR_CORE)
DEFINE_AGGR(aggr_die, AGGR_DIE)
DEFINE_AGGR(aggr_cluster, AGGR_CLUSTER)
DEFINE_AGGR(aggr_socket, AGGR_SOCKET)
DEFINE_AGGR(aggr_node, AGGR_NODE)
DEFINE_AGGR(aggr_prog, AGGR_PROG)

/* An instance of its own makes sense per CPU only. */
static int no_merge(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;

	cmd->run.config.no_merge = true;
	return aggr_none(ctx, arg);
}

static int aggr_cache(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;

	if (arg) {
		if ((arg[0] != 'L' && arg[0] != 'l') || arg[1] < '1' || arg[1] > '4' || arg[2]) {
			pr_err("--per-cache=%s: not a cache level (L1, L2, L3, L4)", arg);
			return -EINVAL;
		}
		cmd->run.config.cache_level = arg[1] - '0';
	}
	set_aggr(cmd, AGGR_CACHE);
	return 0;
}

static int set_big_num(void *ctx, const char *arg __unused)
{
	struct stat_cmd *cmd = ctx;

	cmd->big_num = true;
	cmd->no_big_num = false;
	return 0;
}

static int parse_sep(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;

	cmd->run.config.csv_sep = strcmp(arg, "\\t") ? arg : "\t";
	return 0;
}

#define AT(field) offsetof(struct stat_cmd, field)

static const struct option_row rows[] = {
	{ 'a', "all-cpus", OPT_FLAG, AT(run.target.system_wide), .help = "count on all CPUs" },
	{ 'A', "no-aggr", OPT_CALL_NONE, .call = aggr_none, .help = "a row for each CPU" },
	{ 'b', "bpf-prog", OPT_STRING, AT(run.target.bpf_list), .arg = "program",
	  .help = "count in these BPF programs: id, name:N, tag:T, pinned:P, all; perf list bpf" },
	{ 0, "all-kernel", OPT_CALL_NONE, .call = set_all_kernel,
	  .help = "count in the kernel only, whatever the events say" },
	{ 0, "all-user", OPT_CALL_NONE, .call = set_all_user,
	  .help = "count in user space only, whatever the events say" },
	{ 0, "bpf-counters", OPT_FLAG, AT(run.share_all),
	  .help = "share the counters with all other runs" },
	{ 0, "bpf-attr-map", OPT_STRING, AT(run.plan.attr_map_path), .arg = "path",
	  .help = "where the map of shared events is pinned" },
	{ 'B', "big-num", OPT_CALL_NONE, .call = set_big_num, .help = "group digits (the default)" },
	{ 'C', "cpu", OPT_STRING, AT(run.target.cpu_list), .arg = "cpu-list",
	  .help = "count on these CPUs" },
	{ 0, "control", OPT_STRING, AT(control_spec), .arg = "fd:ctl[,ack]|fifo:ctl[,ack]",
	  .help = "take commands: enable, disable, ping, stop" },
	{ 0, "cputype", OPT_CALL, .call = parse_cputype, .arg = "core PMU",
	  .help = "of several core PMUs use this one for the -e that follow" },
	{ 'd', "detailed", OPT_COUNT, AT(detail), .help = "more default events; repeat for more" },
	{ 'D', "delay", OPT_INT, AT(run.delay_ms), .arg = "ms",
	  .help = "start counting after that time; -1: when --control says so" },
	{ 'e', "event", OPT_CALL, .call = parse_e, .arg = "event", .help = "events to count: perf list" },
	{ 0, "explain", OPT_FLAG, AT(run.explain),
	  .help = "say which function of the kernel refuses an event" },
	{ 0, "filter", OPT_CALL, .call = parse_filter, .arg = "filter",
	  .help = "filter of the tracepoints of the last -e" },
	{ 0, "for-each-cgroup", OPT_STRING, AT(each_cgroup), .arg = "list",
	  .help = "repeat the events for each cgroup of the list" },
	{ 'G', "cgroup", OPT_CALL, .call = parse_G, .arg = "name",
	  .help = "count the events before it in these cgroups only, one for each" },
	{ 0, "hybrid-merge", OPT_CALL_NONE, .call = set_hybrid_merge,
	  .help = "sum up core PMUs in one row, for the -e that follow" },
	{ 0, "hide-zero-events", OPT_FLAG, AT(run.config.hide_zero), .help = "leave out rows that are 0" },
	{ 'i', "inherit", OPT_NEGATED, AT(run.target.no_inherit), .help = "do not count children" },
	{ 'I', "interval-print", OPT_CALL, .call = parse_interval, .arg = "ms",
	  .help = "print the counts of each interval" },
	{ 0, "interval-clear", OPT_FLAG, AT(run.config.interval_clear),
	  .help = "clear the screen before each interval" },
	{ 0, "interval-count", OPT_UINT, AT(run.interval_count), .arg = "n",
	  .help = "stop printing after so many intervals" },
	{ 'j', "json-output", OPT_FLAG, AT(run.config.json), .help = "print JSON" },
	{ 0, "log-fd", OPT_INT, AT(log_fd), .arg = "fd", .help = "print to this descriptor" },
	{ 0, "metric-only", OPT_FLAG, AT(run.config.metric_only), .help = "print metrics, no counts" },
	{ 0, "no-merge", OPT_CALL_NONE, .call = no_merge,
	  .help = "as -A, and a row for each PMU instance" },
	{ 'M', "metrics", OPT_CALL, .call = parse_metrics, .arg = "metric,group,...",
	  .help = "metrics and groups of them: perf list metrics" },
	{ 0, "metrics-file", OPT_CALL, .call = parse_metrics_file, .arg = "file",
	  .help = "a file or directory that defines metrics and events" },
	{ 0, "metric-no-group", OPT_FLAG, AT(metrics.options.no_group),
	  .help = "do not group the events of -M" },
	{ 0, "metric-no-merge", OPT_FLAG, AT(metrics.options.no_merge),
	  .help = "events of its own for each metric of -M" },
	{ 0, "metric-no-threshold", OPT_FLAG, AT(metrics.options.no_threshold),
	  .help = "no events that only thresholds of -M need" },
	{ 0, "no-metrics", OPT_FLAG, AT(run.config.no_metrics),
	  .help = "no ratios behind the counts of -e" },
	{ 'n', "null", OPT_FLAG, AT(run.config.null_run),
	  .help = "no default events: only time is measured" },
	{ 0, "no-big-num", OPT_FLAG, AT(no_big_num), .help = "do not group digits" },
	{ 0, "no-csv-summary", OPT_FLAG, AT(run.config.no_csv_summary),
	  .help = "no 'summary' before the summary's rows" },
	{ 'o', "output", OPT_STRING, AT(output_path), .arg = "file", .help = "print to this file" },
	{ 0, "append", OPT_FLAG, AT(append), .help = "append to the file of -o" },
	{ 'p', "pid", OPT_STRING, AT(run.target.pid_list), .arg = "pid-list",
	  .help = "count these processes" },
	{ 0, "per-cache", OPT_CALL_OPT, .call = aggr_cache, .arg = "level",
	  .help = "a row for each cache" },
	{ 0, "per-cluster", OPT_CALL_NONE, .call = aggr_cluster, .help = "a row for each cluster" },
	{ 0, "per-core", OPT_CALL_NONE, .call = aggr_core, .help = "a row for each core" },
	{ 0, "per-die", OPT_CALL_NONE, .call = aggr_die, .help = "a row for each die" },
	{ 0, "per-node", OPT_CALL_NONE, .call = aggr_node, .help = "a row for each NUMA node" },
	{ 0, "per-prog", OPT_CALL_NONE, .call = aggr_prog, .help = "with -b, a row for each program" },
	{ 0, "per-socket", OPT_CALL_NONE, .call = aggr_socket, .help = "a row for each socket" },
	{ 0, "per-thread", OPT_FLAG, AT(run.target.per_thread), .help = "a row for each thread" },
	{ 0, "percore-show-thread", OPT_FLAG, AT(run.config.percore_show_thread),
	  .help = "with -A, print the core's sum of percore events for each CPU" },
	{ 0, "pfm-events", OPT_CALL, .call = parse_pfm_events, .arg = "event",
	  .help = "events to count by the names of libpfm4: perf list pfm" },
	{ 0, "pmu-filter", OPT_CALL, .call = parse_pmu_filter, .arg = "PMU",
	  .help = "use only this PMU for the -e that follow" },
	{ 0, "post", OPT_STRING, AT(post), .arg = "command", .help = "run this after each run" },
	{ 0, "pre", OPT_STRING, AT(pre), .arg = "command", .help = "run this before each run" },
	{ 0, "quiet", OPT_FLAG, AT(quiet), .help = "print nothing" },
	{ 'r', "repeat", OPT_INT, AT(run.config.run_count), .arg = "n",
	  .help = "run the command so often, print mean and deviation; 0: forever" },
	{ 0, "scale", OPT_NEGATED, AT(run.config.no_scale),
	  .help = "do not scale the counts of multiplexed events" },
	{ 0, "sort", OPT_STRING, AT(run.config.sort_event), .arg = "event",
	  .help = "cgroups with the most of this event first" },
	{ 'S', "sync", OPT_FLAG, AT(sync), .help = "flush file systems before each run" },
	{ 0, "summary", OPT_FLAG, AT(run.config.summary), .help = "print totals after -I" },
	{ 0, "smi-cost", OPT_CALL_NONE, .call = set_smi_cost,
	  .help = "what system management interrupts cost (Intel)" },
	{ 't', "tid", OPT_STRING, AT(run.target.tid_list), .arg = "tid-list",
	  .help = "count these threads" },
	{ 0, "table", OPT_FLAG, AT(run.config.table), .help = "with -r, print each run's time" },
	{ 0, "td-level", OPT_UINT, AT(metrics.td_level), .arg = "n", .help = "with --topdown: so deep; 0: all" },
	{ 0, "topdown", OPT_CALL_NONE, .call = set_topdown,
	  .help = "where the pipeline loses time, by metrics of the CPU" },
	{ 'T', "transaction", OPT_FLAG, AT(metrics.transaction), .help = "metrics of hardware transactions" },
	{ 0, "timeout", OPT_UINT, AT(run.timeout_ms), .arg = "ms", .help = "stop after that time" },
	{ 0, "top", OPT_UINT, AT(run.config.top), .arg = "n",
	  .help = "print only the n cgroups with the most of the event of --sort, else the first" },
	{ 'v', "verbose", OPT_COUNT, AT(run.config.verbose), .help = "say more; repeat for more" },
	{ 'x', "field-separator", OPT_CALL, .call = parse_sep, .arg = "separator",
	  .help = "print fields separated by that" },
	{},
};

/* --- checks --- */

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

/* What cannot be meant together; refused before anything is opened. */
static int check_conflicts(const struct stat_cmd *cmd)
{
	const struct stat_config *config = &cmd->run.config;
	const struct target *target = &cmd->run.target;
	bool is_topology = config->aggr_mode != AGGR_GLOBAL && config->aggr_mode != AGGR_THREAD &&
			   config->aggr_mode != AGGR_PROG;
	const struct conflict conflicts[] = {
		{ config->csv_sep && config->json, "-x and -j: one output format at a time" },
		{ cmd->metrics.names && config->no_metrics, "-M and --no-metrics: one or the other" },
		{ cmd->metrics.td_level > MAX_TD_LEVEL, "--td-level: at most 6" },
		{ config->csv_sep && cmd->big_num, "-B and -x: fields are never grouped" },
		{ cmd->append && !cmd->output_path && cmd->log_fd == NO_LOG_FD,
		  "--append needs a file to append to: -o or --log-fd" },
		{ cmd->output_path && cmd->log_fd != NO_LOG_FD, "-o and --log-fd: one place to print to" },
		{ cmd->log_fd < 0 && cmd->log_fd != NO_LOG_FD, "--log-fd: not a descriptor" },
		{ config->run_count < 0, "-r: the number of runs is negative" },
		{ config->run_count != 1 && !target->argc, "-r needs a command to repeat" },
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
		{ (cmd->nr_cgroups || cmd->each_cgroup) && target->bpf_list,
		  "-b and cgroups: not together" },
		{ config->sort_event && !cmd->each_cgroup, "--sort needs --for-each-cgroup" },
		{ config->top && !cmd->each_cgroup, "--top needs --for-each-cgroup" },
		{ target->bpf_list && (cmd->nr_cgroups || cmd->each_cgroup),
		  "-b and -G or --for-each-cgroup: not together: BPF programs are counted whoever runs them" },
		{ config->aggr_mode == AGGR_PROG && !target->bpf_list, "--per-prog needs -b" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(conflicts); i++) {
		if (conflicts[i].both) {
			pr_err("%s", conflicts[i].text);
			return -EINVAL;
		}
	}
	return 0;
}

static void warn_unlikely(const struct stat_cmd *cmd)
{
	const struct target *target = &cmd->run.target;

	if (target->argc && !strcmp(target->argv[0], "sleep") && target__has_task(target) &&
	    !target__is_attached(target))
		pr_text("Warning:\ncounting `sleep` without `-a`: what others do meanwhile is not counted\n");
	if (cmd->run.timeout_ms && cmd->run.timeout_ms < 100)
		pr_text("Warning:\n--timeout %u: below 100 ms the overhead may show in the counts\n",
			cmd->run.timeout_ms);
}

/* --- output --- */

static FILE *open_log_fd(const struct stat_cmd *cmd)
{
	/* A copy, so that closing it at the end is ours alone. */
	int fd = fcntl(cmd->log_fd, F_DUPFD_CLOEXEC, 3);
	FILE *file = fd < 0 ? NULL : fdopen(fd, cmd->append ? "a" : "w");

	if (!file) {
		pr_err("--log-fd %d: %s", cmd->log_fd, strerror(errno));
		close_fd(&fd);
	}
	return file;
}

static FILE *open_file(const struct stat_cmd *cmd)
{
	FILE *file = fopen(cmd->output_path, cmd->append ? "ae" : "we");
	time_t now = time(NULL);

	if (!file)
		pr_err("cannot create the output file '%s': %s", cmd->output_path, strerror(errno));
	else if (!cmd->run.config.json)
		fprintf(file, "# started on %s\n", ctime(&now));
	return file;
}

/* Where the counts go. Return: 0, or an exit status after a message. */
static int open_output(struct stat_cmd *cmd)
{
	struct stat_config *config = &cmd->run.config;

	config->output = stderr;
	if (cmd->quiet) {
		cmd->file = fopen("/dev/null", "we");
		if (!cmd->file)
			return STATUS_FAILED;
		config->interval_clear = false;
	} else if (cmd->output_path && strcmp(cmd->output_path, "-")) {
		cmd->file = open_file(cmd);
		if (!cmd->file)
			return STATUS_FAILED;
	} else if (cmd->log_fd >= 0) {
		cmd->file = open_log_fd(cmd);
		if (!cmd->file)
			return STATUS_INVALID;
	}
	if (cmd->file)
		config->output = cmd->file;
	config->color = isatty(fileno(config->output));
	if (config->interval_clear && !config->color) {
		pr_err("--interval-clear: the output is no terminal");
		return STATUS_FAILED;
	}
	return 0;
}

static int close_output(struct stat_cmd *cmd)
{
	int err = 0;

	fflush(cmd->run.config.output);
	if (ferror(cmd->run.config.output))
		err = -EIO;
	if (cmd->file && fclose(cmd->file) && !err)
		err = -errno;
	cmd->file = NULL;
	if (err)
		pr_err("writing the counts failed: %s", strerror(-err));
	return err;
}

/* --- running --- */

/*
 * Events that no task has (those of uncore PMUs, and perf's own values) make a run of nothing
 * else system-wide, its command notwithstanding.
 */
static void widen_target(struct stat_cmd *cmd)
{
	struct target *target = &cmd->run.target;
	struct evsel *evsel;
	int i;

	if (!target__has_task(target) || target__is_attached(target) || !cmd->evlist->nr)
		return;
	evlist__for_each(cmd->evlist, evsel, i) {
		if (!evsel->needs_cpu && evsel->tool == TOOL_NONE)
			return;
	}
	target->system_wide = true;
}

/* A single name stands for all events before its -G. */
static void use_G(struct stat_cmd *cmd)
{
	int nr = cmd->nr_cgroups == 1 ? cmd->nr_before_G : cmd->nr_cgroups;

	for (int i = 0; i < nr; i++)
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

static void set_metric_options(struct stat_cmd *cmd)
{
	struct metric_request_options *options = &cmd->metrics.options;
	struct stat_config *config = &cmd->run.config;

	/* Thresholds only colour, and in these formats there is nothing to be coloured. */
	options->no_threshold |= config->csv_sep || (config->metric_only && config->json);
	options->scope.defs = cmd->defs;
	options->scope.pmus = cmd->pmus;
	options->scope.target = &cmd->run.target;
	options->scope.target_cpu = !target__has_task(&cmd->run.target);
	options->scope.literal = tool__literal;
	config->requests = &cmd->metrics.requests;
}

/* Return: 0, or an exit status after a message. */
static int add_metrics(struct stat_cmd *cmd)
{
	set_metric_options(cmd);
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

static int add_events(struct stat_cmd *cmd)
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

static void handle_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct sigaction old;

	/* No SA_RESTART: waiting for a lock ends, too. What was ignored stays so: nohup, "&". */
	if (!sigaction(SIGINT, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* --pre and --post. Return: the wait status modulo 256, so a command's own failure is 0. */
static bool is_done(const char *command, int *status)
{
	int wait_status = command ? system(command) : 0;

	if (wait_status) {
		pr_err("'%s' failed: this run is not counted", command);
		*status = wait_status & 0xff;
	}
	return !wait_status;
}

static int run_all(struct stat_cmd *cmd)
{
	const struct stat_config *config = &cmd->run.config;
	const struct stat_times nothing = {};
	int status = 0;

	for (int i = 0; (!config->run_count || i < config->run_count) && !got_signal; i++) {
		int failed;

		if (config->verbose && config->run_count > 1)
			fprintf(config->output, "[ perf stat: executing run #%d ... ]\n", i + 1);
		if (!is_done(cmd->pre, &status)) {
			/* There is a table all the same: of what has not been counted. */
			if ((!config->run_count || !i) && stat__run_done(cmd->run.stat, &nothing))
				return STATUS_FAILED;
			if (!config->run_count && stat__print(cmd->run.stat))
				return STATUS_FAILED;
			break;
		}
		if (cmd->sync)
			sync();
		failed = stat_run__once(&cmd->run, &status);
		if (failed)
			return failed;
		if (!config->run_count && stat__print(cmd->run.stat))
			return STATUS_FAILED;
		if (!status && !is_done(cmd->post, &status))
			break;
		/* A workload that died by a signal ends the series. */
		if (cmd->run.was_killed)
			break;
	}
	if (config->run_count && stat__print(cmd->run.stat))
		return STATUS_FAILED;
	return status;
}

/* -b. Return: 0, or an exit status after a message. */
static int find_progs(struct stat_cmd *cmd)
{
	struct counter_plan *plan = &cmd->run.plan;
	char *missing __cleanup(free_ptr) = capability__missing_to_share();
	int err;

	if (missing) {
		pr_err("-b: not permitted: lacks %s (run as root)", missing);
		return STATUS_FAILED;
	}
	err = bpf_targets__new(cmd->run.target.bpf_list, &cmd->progs);
	if (err)
		return err == -EINVAL ? STATUS_INVALID : STATUS_FAILED;
	plan->progs = cmd->progs;
	plan->prog_rows = thread_map__new_progs(cmd->progs);
	if (!plan->prog_rows)
		pr_err("%s", strerror(ENOMEM));
	return plan->prog_rows ? 0 : STATUS_FAILED;
}

static int run_cmd(struct stat_cmd *cmd)
{
	int status, err;

	status = cmd->run.target.bpf_list ? find_progs(cmd) : 0;
	if (status)
		return status;
	err = add_events(cmd);
	if (err) {
		if (err == -ENOMEM)
			pr_err("out of memory");
		return err == -ENOMEM ? STATUS_FAILED : STATUS_INVALID;
	}
	status = stat_run__assign(&cmd->run);
	if (status)
		return status;
	if (cmd->has_control)
		cmd->run.control = &cmd->control;
	status = open_output(cmd);
	if (status)
		return status;
	cmd->run.stat = stat__new(&cmd->run.config, cmd->evlist);
	if (!cmd->run.stat) {
		pr_err("%s", strerror(errno));
		return STATUS_FAILED;
	}
	handle_signals();
	status = run_all(cmd);
	if (close_output(cmd) && !status)
		status = STATUS_FAILED;
	return status;
}

/* What the configuration files say is the default of options. */
static int load_settings(struct stat_cmd *cmd)
{
	const struct config *settings = &cmd->settings;
	int err = config__load(&cmd->settings);

	if (err)
		return err;
	cmd->no_big_num = settings->no_big_num;
	cmd->run.config.no_csv_summary = settings->no_csv_summary;
	cmd->run.share_events = settings->bpf_counter_events;
	cmd->run.plan.attr_map_path = settings->attr_map;
	cmd->run.plan.trusted_owners = settings->trusted;
	return 0;
}

static void clear(struct stat_cmd *cmd)
{
	stat__delete(cmd->run.stat);
	config__clear(&cmd->settings);
	thread_map__delete(cmd->run.plan.prog_rows);
	bpf_targets__delete(cmd->progs);
	if (cmd->has_control)
		control__close(&cmd->control);
	if (cmd->file)
		fclose(cmd->file);
	metric_plan__clear(&cmd->metrics);
	evlist__delete(cmd->evlist);
	cgroup_list__delete(cmd->run.plan.cgroups);
	free(cmd->cgroup_of);
	pmus__delete(cmd->pmus);
	definitions__delete(cmd->defs);
}

/* These words, down to three letters, are commands of perf stat itself; NULL is not. */
static bool is_record_or_report(const char *word)
{
	size_t len = word ? strlen(word) : 0;

	return len >= 3 && (!strncmp(word, "record", len) || !strncmp(word, "report", len));
}

int cmd_stat(int argc, char **argv)
{
	struct stat_cmd cmd = {
		.log_fd = NO_LOG_FD,
		.metrics = { .td_level = 1 },
		.run = { .config = { .aggr_mode = AGGR_GLOBAL, .run_count = 1 }, .signal = &got_signal },
	};
	int first, err, status = STATUS_INVALID;

	msg__init("perf stat");
	setlocale(LC_ALL, "");
	cmd.pmus = pmus__new(sysfs_root());
	cmd.evlist = evlist__new();
	cmd.defs = definitions__new();
	cmd.run.plan.cgroups = cgroup_list__new();
	if (!cmd.pmus || !cmd.evlist || !cmd.defs || !cmd.run.plan.cgroups) {
		pr_err("%s", strerror(errno));
		clear(&cmd);
		return STATUS_FAILED;
	}
	definitions__add_places(cmd.defs);
	pmus__set_definitions(cmd.pmus, cmd.defs);
	cmd.run.plan.evlist = cmd.evlist;
	cmd.run.config.target = &cmd.run.target;
	cmd.run.config.literal = tool__literal;
	cmd.run.config.defs = cmd.defs;
	cmd.run.config.pmus = cmd.pmus;
	if (load_settings(&cmd)) {
		clear(&cmd);
		return STATUS_FAILED;
	}

	first = options__parse(rows, usage, &cmd, argc, argv);
	if (first < 0) {
		clear(&cmd);
		return -first;
	}
	if (is_record_or_report(argv[first])) {
		pr_err("%s: counts cannot be recorded yet (a command of that name: give its path)",
		       argv[first]);
		clear(&cmd);
		return STATUS_NO_RECORD;
	}
	cmd.run.target.argv = argv + first;
	cmd.run.target.argc = argc - first;
	if (cmd.run.target.per_thread)
		set_aggr(&cmd, AGGR_THREAD);
	cmd.run.config.big_num = !cmd.no_big_num;
	msg__set_verbose(cmd.run.config.verbose);
	cmd.run.config.bpf_prog_list = cmd.run.target.bpf_list;
	err = target__validate(&cmd.run.target);
	if (!err)
		err = add_metrics(&cmd);
	if (err > 0)
		status = err;
	if (!err) {
		widen_target(&cmd);
		err = check_conflicts(&cmd);
	}
	if (!err && cmd.control_spec) {
		err = control__open(&cmd.control, cmd.control_spec);
		cmd.has_control = !err;
		if (err)
			status = OPTIONS_USAGE_STATUS;
	}
	if (!err) {
		warn_unlikely(&cmd);
		status = run_cmd(&cmd);
	}
	clear(&cmd);
	if (got_signal) {
		signal(got_signal, SIG_DFL);
		raise(got_signal);
	}
	return status;
}

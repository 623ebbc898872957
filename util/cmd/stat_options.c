// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/stat_options.h"

#include "util/cmd/stat_cancel.h"
#include "util/cmd/stat_cmd.h"
#include "util/defs/definitions.h"
#include "util/event/evlist.h"
#include "util/event/pfm.h"
#include "util/event/pmu.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/parse_options.h"
#include "util/lib/util.h"
#include "util/target/cgroup_list.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"perf stat [<options>] [<command>]\n"
	"    or: perf stat record [<options>] [-o <file>] [<command>]\n"
	"    or: perf stat report [<options>] [-i <file>]\n"
	"    or: perf stat [<options>] -a | -C <cpus> | -p <pids> | -t <tids> | -b <programs> [-- <command>]";

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

/* Return: whether an option that affects parsing of -e precedes it; otherwise print an error. */
static bool is_before_events(const struct stat_cmd *cmd, const char *option)
{
	if (cmd->has_e)
		pr_err("%s must come before the -e it applies to", option);
	return !cmd->has_e;
}

static int parse_cputype(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;

	if (!is_before_events(cmd, "--cputype"))
		return -EINVAL;
	if (!pmus__set_cputype(cmd->pmus, arg))
		return 0;
	pr_err("--cputype %s: there is no such core PMU", shown_arg(arg));
	return -EINVAL;
}

static int parse_pmu_filter(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;

	if (!is_before_events(cmd, "--pmu-filter"))
		return -EINVAL;
	if (!pmus__set_filter(cmd->pmus, arg))
		return 0;
	pr_err("--pmu-filter %s: there is no such PMU (see %s/bus/event_source/devices)",
	       shown_arg(arg), sysfs_root());
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

	return metric_options__add_names(&cmd->metrics, arg) ? -EINVAL : 0;
}

/* At once: what follows may be -e, whose messages depend on it. */
static int add_verbose(void *ctx, const char *arg __unused)
{
	struct stat_cmd *cmd = ctx;

	msg__set_verbose(++cmd->run.config.options.verbose);
	return 0;
}

/* --topdown and --smi-cost print the CPU's own metric groups, and no counts. */
static int set_topdown(void *ctx, const char *arg __unused)
{
	struct stat_cmd *cmd = ctx;

	cmd->metrics.topdown = true;
	cmd->run.config.options.metric_only = true;
	return 0;
}

static int set_smi_cost(void *ctx, const char *arg __unused)
{
	struct stat_cmd *cmd = ctx;

	cmd->metrics.smi_cost = true;
	cmd->run.config.options.metric_only = true;
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
		pr_err("--all-user and --all-kernel are mutually exclusive");
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

/* The n-th name of all -G applies to the n-th event; an empty name leaves it unrestricted. */
static int add_G(struct stat_cmd *cmd, const char *name)
{
	const struct cgroup **added;
	const struct cgroup *cgroup = NULL;

	/* Allow trailing empty names: scripts make such lists. */
	if (*name && cmd->nr_cgroups >= cmd->evlist->nr) {
		pr_err("-G: more cgroups than events: there are %d before it", cmd->evlist->nr);
		return -EINVAL;
	}
	if (*name) {
		cgroup = cgroup_list__add(cmd->run.plan.cgroups, name);
		if (!cgroup)
			return -EINVAL;
	}
	added = array__add(cmd->cgroup_of, cmd->nr_cgroups);
	if (!added)
		return -EINVAL;
	*added = cgroup;
	return 0;
}

static int parse_G(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;
	char *names __cleanup(free_ptr) = strdup(arg);
	char *rest = names, *name;
	int err = 0;

	if (!cmd->evlist->nr) {
		pr_err("-G %s comes before any event: give it after -e", shown_arg(arg));
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

	if (end == arg || *end || *arg == '-') {
		pr_err("-I %s: not a number of milliseconds", shown_arg(arg));
		return -EINVAL;
	}
	if (ms > UINT_MAX / 2) {
		pr_err("-I %s: too large: %u ms at most", arg, UINT_MAX / 2);
		return -EINVAL;
	}
	cmd->run.config.options.interval_ms = ms;
	return 0;
}

/* A row for each PMU instance needs rows for each CPU. */
static int no_merge(void *ctx, const char *arg __unused)
{
	struct stat_cmd *cmd = ctx;

	cmd->run.config.options.no_merge = true;
	cmd->aggr_modes |= 1 << AGGR_NONE;
	return 0;
}

/* Only some servers have PMUs of I/O ports. */
static int set_iostat(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;
	int err;

	io_ports__clear(&cmd->io_ports);
	err = io_ports__find(&cmd->io_ports, cmd->pmus, sysfs_root());
	if (err == -ENODEV)
		pr_err("--iostat: this machine has no PMU of I/O ports (uncore_iio, hisi_pcie)");
	else if (err == -ENOENT)
		pr_err("--iostat: the kernel does not name the ports behind %s",
		       cmd->io_ports.unnamed);
	else if (err)
		pr_err("%s", strerror(-err));
	cmd->has_iostat = true;
	cmd->lists_ports = arg && !strcmp(arg, "list");
	if (!err && arg && !cmd->lists_ports)
		err = io_ports__keep(&cmd->io_ports, arg);
	return err ? -EINVAL : 0;
}

static int set_tpebs_mode(void *ctx, const char *arg)
{
	static const char *const modes[] = {"mean", "min", "max", "last"};
	struct stat_cmd *cmd = ctx;

	cmd->record_tpebs = true;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		if (!strcmp(arg, modes[i]))
			return 0;
	}
	pr_err("--tpebs-mode %s: not one of mean, min, max, last", shown_arg(arg));
	return -EINVAL;
}

static int aggr_cache(void *ctx, const char *arg)
{
	struct stat_cmd *cmd = ctx;

	if (arg) {
		if ((arg[0] != 'L' && arg[0] != 'l') || arg[1] < '1' || arg[1] > '4' || arg[2]) {
			pr_err("--per-cache=%s: not a cache level (L1, L2, L3, L4)",
			       shown_arg(arg));
			return -EINVAL;
		}
		cmd->run.config.options.cache_level = arg[1] - '0';
	}
	cmd->aggr_modes |= 1 << AGGR_CACHE;
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

	cmd->run.config.options.csv_sep = strcmp(arg, "\\t") ? arg : "\t";
	return 0;
}

#define AT(field)  offsetof(struct stat_cmd, field)
#define AGGR(mode) AT(aggr_modes), .bit = 1 << (mode)

static const struct option_row rows[] = {
	{'a', "all-cpus", OPT_FLAG, AT(run.target.system_wide), .help = "count on all CPUs"},
	{'A', "no-aggr", OPT_BIT, AGGR(AGGR_NONE), .help = "a row for each CPU"},
	{'b', "bpf-prog", OPT_STRING, AT(run.target.bpf_list), .arg = "program",
	 .help = "count in these BPF programs: id, name:N, tag:T, pinned:P, all; perf list bpf"},
	{0, "affinity", OPT_FLAG, AT(affinity), .help = "accepted, no effect"},
	{0, "all-kernel", OPT_CALL_NONE, .call = set_all_kernel, .cancel = stat_cancel__all_kernel,
	 .help = "count in the kernel only, overriding modifiers"},
	{0, "all-user", OPT_CALL_NONE, .call = set_all_user, .cancel = stat_cancel__all_user,
	 .help = "count in user space only, overriding modifiers"},
	{0, "bpf-counters", OPT_FLAG, AT(run.share_all),
	 .help = "share counters with all other sessions"},
	{0, "bpf-attr-map", OPT_STRING, AT(run.plan.attr_map_path), .arg = "path",
	 .help = "where the map of shared events is pinned"},
	{'B', "big-num", OPT_CALL_NONE, .call = set_big_num, .help = "group digits (the default)"},
	{'C', "cpu", OPT_STRING, AT(run.target.cpu_list), .arg = "cpu-list",
	 .help = "count on these CPUs"},
	{0, "control", OPT_STRING, AT(control_spec), .arg = "fd:ctl[,ack]|fifo:ctl[,ack]",
	 .help = "take commands: enable, disable, evlist, ping, stop"},
	{0, "cputype", OPT_CALL, .call = parse_cputype, .arg = "core PMU",
	 .help = "of several core PMUs, use this one for the following -e"},
	{'d', "detailed", OPT_COUNT, AT(detail), .help = "more default events; repeat for more"},
	{'D', "delay", OPT_INT, AT(run.delay_ms), .arg = "ms",
	 .help = "start counting after this time; -1: when --control enables it"},
	{'e', "event", OPT_CALL, .call = parse_e, .arg = "event",
	 .help = "events to count: perf list"},
	{0, "explain", OPT_FLAG, AT(explain),
	 .help = "print which kernel function rejects an event"},
	{0, "filter", OPT_CALL, .call = parse_filter, .arg = "filter",
	 .help = "filter of the tracepoints of the last -e"},
	{0, "for-each-cgroup", OPT_STRING, AT(each_cgroup), .arg = "list",
	 .help = "repeat the events for each cgroup of the list"},
	{'G', "cgroup", OPT_CALL, .call = parse_G, .arg = "name",
	 .help = "count the events before it in these cgroups only, one for each"},
	{0, "hybrid-merge", OPT_CALL_NONE, .call = set_hybrid_merge,
	 .cancel = stat_cancel__hybrid_merge,
	 .help = "sum up core PMUs in one row, for the following -e"},
	{0, "hide-zero-events", OPT_FLAG, AT(run.config.options.hide_zero),
	 .help = "omit rows that are 0"},
	{'i', "inherit", OPT_NEGATED, AT(run.target.no_inherit), .help = "do not count children"},
	{'I', "interval-print", OPT_CALL, .call = parse_interval, .cancel = stat_cancel__interval,
	 .arg = "ms", .help = "print the counts of each interval"},
	{0, "interval-clear", OPT_FLAG, AT(run.config.options.interval_clear),
	 .help = "clear the screen before each interval"},
	{0, "interval-count", OPT_UINT, AT(run.interval_count), .arg = "n",
	 .help = "stop printing after n intervals"},
	{0, "iostat", OPT_CALL_OPT, .call = set_iostat, .cancel = stat_cancel__iostat,
	 .arg = "list|ports", .help = "megabytes that each PCI root port moved (Intel servers)"},
	{'j', "json-output", OPT_FLAG, AT(run.config.options.json), .help = "print JSON"},
	{0, "log-fd", OPT_INT, AT(log_fd), .arg = "fd", .help = "print to this descriptor"},
	{0, "metric-only", OPT_FLAG, AT(run.config.options.metric_only),
	 .help = "print metrics, no counts"},
	{0, "no-merge", OPT_CALL_NONE, .call = no_merge, .cancel = stat_cancel__merge,
	 .help = "as -A, and a row for each PMU instance"},
	{'M', "metrics", OPT_CALL, .call = parse_metrics, .arg = "metric,group,...",
	 .help = "metrics and groups of them: perf list metrics"},
	{0, "metrics-file", OPT_CALL, .call = parse_metrics_file, .arg = "file",
	 .help = "a file or directory that defines metrics and events"},
	{0, "metric-no-group", OPT_FLAG, AT(metrics.options.no_group),
	 .help = "do not group the events of -M"},
	{0, "metric-no-merge", OPT_FLAG, AT(metrics.options.no_merge),
	 .help = "events of its own for each metric of -M"},
	{0, "metric-no-threshold", OPT_FLAG, AT(metrics.options.no_threshold),
	 .help = "no events that only thresholds of -M need"},
	{0, "no-metrics", OPT_FLAG, AT(run.config.options.no_metrics),
	 .help = "no ratios behind the counts of -e"},
	{'n', "null", OPT_FLAG, AT(run.config.options.null_run),
	 .help = "no default events: only time is measured"},
	{0, "no-big-num", OPT_FLAG, AT(no_big_num), .help = "do not group digits"},
	{0, "csv-summary", OPT_NEGATED, AT(run.config.options.no_csv_summary),
	 .help = "no 'summary' before the summary's rows"},
	{'o', "output", OPT_STRING, AT(output_path), .arg = "file", .help = "print to this file"},
	{0, "append", OPT_FLAG, AT(append), .help = "append to the file of -o"},
	{'p', "pid", OPT_STRING, AT(run.target.pid_list), .arg = "pid-list",
	 .help = "count these processes"},
	{0, "per-cache", OPT_CALL_OPT, .call = aggr_cache, .cancel = stat_cancel__cache,
	 .arg = "level", .help = "a row for each cache"},
	{0, "per-cluster", OPT_BIT, AGGR(AGGR_CLUSTER), .help = "a row for each cluster"},
	{0, "per-core", OPT_BIT, AGGR(AGGR_CORE), .help = "a row for each core"},
	{0, "per-die", OPT_BIT, AGGR(AGGR_DIE), .help = "a row for each die"},
	{0, "per-node", OPT_BIT, AGGR(AGGR_NODE), .help = "a row for each NUMA node"},
	{0, "per-prog", OPT_BIT, AGGR(AGGR_PROG), .help = "with -b, a row for each program"},
	{0, "per-socket", OPT_BIT, AGGR(AGGR_SOCKET), .help = "a row for each socket"},
	{0, "per-thread", OPT_FLAG, AT(run.target.per_thread), .help = "a row for each thread"},
	{0, "percore-show-thread", OPT_FLAG, AT(run.config.options.percore_show_thread),
	 .help = "with -A, print the core's sum of percore events for each CPU"},
	{0, "pfm-events", OPT_CALL, .call = parse_pfm_events, .arg = "event",
	 .help = "events to count by the names of libpfm4: perf list pfm"},
	{0, "pmu-filter", OPT_CALL, .call = parse_pmu_filter, .arg = "PMU",
	 .help = "use only this PMU for the following -e"},
	{0, "post", OPT_STRING, AT(post), .arg = "command", .help = "run this after each run"},
	{0, "pre", OPT_STRING, AT(pre), .arg = "command", .help = "run this before each run"},
	{0, "quiet", OPT_FLAG, AT(quiet), .help = "print nothing"},
	{0, "record-tpebs", OPT_FLAG, AT(record_tpebs),
	 .help = "sample retirement latencies (Intel); accepted, no effect"},
	{'r', "repeat", OPT_INT, AT(run.config.options.run_count), .arg = "n",
	 .help = "repeat the command n times, print mean and deviation; 0: forever"},
	{0, "scale", OPT_NEGATED, AT(run.config.options.no_scale),
	 .help = "do not scale the counts of multiplexed events"},
	{0, "sort", OPT_STRING, AT(run.config.options.sort_event), .arg = "event",
	 .help = "cgroups with the most of this event first"},
	{'S', "sync", OPT_FLAG, AT(sync), .help = "flush file systems before each repeat"},
	{0, "summary", OPT_FLAG, AT(run.config.options.summary), .help = "print totals after -I"},
	{0, "smi-cost", OPT_CALL_NONE, .call = set_smi_cost, .cancel = stat_cancel__smi_cost,
	 .help = "cost of system management interrupts (Intel)"},
	{'t', "tid", OPT_STRING, AT(run.target.tid_list), .arg = "tid-list",
	 .help = "count these threads"},
	{0, "table", OPT_FLAG, AT(run.config.options.table),
	 .help = "with -r, print the time of each repeat"},
	{0, "td-level", OPT_UINT, AT(metrics.td_level), .arg = "n",
	 .help = "with --topdown: level, 0 for the deepest"},
	{0, "topdown", OPT_CALL_NONE, .call = set_topdown, .cancel = stat_cancel__topdown,
	 .help = "where the pipeline loses time (metrics of the CPU)"},
	{0, "tpebs-mode", OPT_CALL, .call = set_tpebs_mode, .cancel = stat_cancel__tpebs,
	 .arg = "mode", .help = "mean, min, max or last retirement latency; accepted, no effect"},
	{'T', "transaction", OPT_FLAG, AT(metrics.transaction),
	 .help = "metrics of hardware transactions"},
	{0, "timeout", OPT_UINT, AT(run.timeout_ms), .arg = "ms", .help = "stop after this time"},
	{0, "top", OPT_UINT, AT(run.config.options.top), .arg = "n",
	 .help = "print only the n cgroups with the most of the event of --sort, else the first"},
	{'v', "verbose", OPT_CALL_NONE, .call = add_verbose, .cancel = stat_cancel__verbose,
	 .help = "print more messages; repeat for more"},
	{'x', "field-separator", OPT_CALL, .call = parse_sep, .cancel = stat_cancel__separator,
	 .arg = "separator", .help = "print fields with this separator"},
	{},
};

/* The finest of the modes asked for wins, in whatever order they were given; see perf-stat(1). */
static void choose_aggr_mode(struct stat_cmd *cmd)
{
	static const enum aggr_mode finest_first[] = {
		AGGR_NONE,    AGGR_PROG, AGGR_THREAD, AGGR_CORE, AGGR_CACHE,
		AGGR_CLUSTER, AGGR_DIE,	 AGGR_SOCKET, AGGR_NODE,
	};

	if (cmd->run.target.per_thread)
		cmd->aggr_modes |= 1 << AGGR_THREAD;
	for (size_t i = 0; i < ARRAY_SIZE(finest_first); i++) {
		if (cmd->aggr_modes & 1 << finest_first[i]) {
			cmd->run.config.options.aggr_mode = finest_first[i];
			return;
		}
	}
}

int stat_cmd__parse_options(struct stat_cmd *cmd, int argc, char **argv)
{
	int first = parse_options__parse(rows, usage, cmd, argc, argv);

	if (first < 0)
		return first;
	choose_aggr_mode(cmd);
	/* -A overrides --per-thread: counts of CPUs have no threads. */
	if (cmd->run.config.options.aggr_mode == AGGR_NONE)
		cmd->run.target.per_thread = false;
	return first;
}

static const char report_usage[] = "perf stat report [<options>] [-i <file>]";

/* The options of perf stat that affect printing. */
static const char *const report_names[] = {
	"no-aggr",	  "per-socket", "per-die",    "per-cluster",	 "per-cache",
	"per-core",	  "per-thread", "per-node",   "field-separator", "json-output",
	"metric-only",	  "no-metrics", "summary",    "csv-summary",	 "hide-zero-events",
	"interval-clear", "big-num",	"no-big-num", "no-merge",	 "scale",
	"output",	  "append",	"log-fd",     "metrics-file",	 "verbose",
};

int stat_cmd__parse_report_options(struct stat_cmd *cmd, int argc, char **argv)
{
	struct option_row report_rows[ARRAY_SIZE(report_names) + 2] = {
		{'i', "input", OPT_STRING, AT(input_path), .arg = "file",
		 .help = "read this file; -: standard input"},
	};
	int first, nr = 1;

	for (size_t n = 0; n < ARRAY_SIZE(report_names); n++) {
		for (const struct option_row *row = rows; row->letter || row->name; row++) {
			if (!strcmp(row->name, report_names[n]))
				report_rows[nr++] = *row;
		}
	}
	assert(nr == ARRAY_SIZE(report_names) + 1);
	first = parse_options__parse(report_rows, report_usage, cmd, argc, argv);
	if (first >= 0)
		choose_aggr_mode(cmd);
	return first;
}

// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/profile_parse.h"

#include "util/cmd/profile_cmd.h"
#include "util/event/parse_events.h"
#include "util/lib/msg.h"
#include "util/lib/parse_options.h"
#include "util/lib/util.h"
#include "util/target/cgroup_list.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
	"perf profile [<options>] [<command>]\n"
	"    or: perf profile [<options>] -a | -C <cpus> | -p <pids> | -t <tids> | -u <user> [-- <command>]\n"
	"    or: perf profile --diff <before> <after>\n"
	"    or: perf profile report [<options>] [<file>]";

/*
 * Single samples that a CPU has room for until they are collected. Four times 20,000 Hz find room (on an idle
 * machine perf collects these every 50 ms).
 */
#define EACH_ROOM     4096
#define EACH_ROOM_MAX (1 << 20)

/* --- options --- */

static int parse_e(void *ctx, const char *arg)
{
	struct profile_cmd *cmd = ctx;
	struct parse_error error = {};
	int err = parse_events(cmd->run.events, cmd->pmus, arg, &error);

	if (err == -EINVAL)
		parse_error__print(&error);
	else if (err)
		pr_err("%s", strerror(-err));
	parse_error__clear(&error);
	return err ? -EINVAL : 0;
}

/* Return: 0; -EINVAL: the text is no number from 1 on, or a rate was given before. */
static int parse_rate(struct profile_cmd *cmd, const char *arg, enum sample_rate_kind kind)
{
	unsigned long long rate;
	char *end;

	if (cmd->has_rate && cmd->run.sampling.rate_kind != kind) {
		pr_err("-F and -c are mutually exclusive");
		return -EINVAL;
	}
	errno = 0;
	rate = strtoull(arg, &end, 10);
	if (!isdigit((unsigned char)*arg) || *end || errno || !rate || rate > INT64_MAX) {
		pr_err(kind == SAMPLE_BY_FREQ ?
			       "-F %s: not a rate (a number of samples a second from 1 on, or max)" :
			       "-c %s: not a period (a number of events from 1 on)",
		       arg);
		return -EINVAL;
	}
	cmd->run.sampling.rate_kind = kind;
	cmd->run.sampling.rate = rate;
	cmd->has_rate = true;
	return 0;
}

static int parse_F(void *ctx, const char *arg)
{
	struct profile_cmd *cmd = ctx;

	cmd->is_max_rate = !strcmp(arg, "max");
	return parse_rate(cmd, cmd->is_max_rate ? "1" : arg, SAMPLE_BY_FREQ);
}

static int parse_c(void *ctx, const char *arg)
{
	return parse_rate(ctx, arg, SAMPLE_BY_PERIOD);
}

static int parse_interval(void *ctx, const char *arg)
{
	struct profile_cmd *cmd = ctx;
	char *end;
	unsigned long ms = strtoul(arg, &end, 10);

	if (!isdigit((unsigned char)*arg) || *end || !ms || ms > UINT_MAX / 2) {
		pr_err("-I %s: not a number of milliseconds", arg);
		return -EINVAL;
	}
	cmd->run.base.config.options.interval_ms = ms;
	return 0;
}

static int parse_G(void *ctx, const char *arg)
{
	struct profile_cmd *cmd = ctx;
	char *names __cleanup(free_ptr) = strdup(arg);
	char *rest = names, *name;

	cmd->has_G = true;
	while (names && (name = strsep(&rest, ","))) {
		if (*name && !cgroup_list__add(cmd->cgroups, name))
			return -EINVAL;
	}
	return names ? 0 : -EINVAL;
}

static int parse_sep(void *ctx, const char *arg)
{
	struct profile_cmd *cmd = ctx;

	cmd->options.csv_sep = strcmp(arg, "\\t") ? arg : "\t";
	return 0;
}

static int refuse_call_graph(const char *word)
{
	if (!strcmp(word, "dwarf") || !strcmp(word, "lbr"))
		pr_err("--call-graph %s: stacks are read in the kernel, by frame pointers (fp) only",
		       word);
	else
		pr_err("--call-graph %s: not one of fp, caller, callee", word);
	return -EINVAL;
}

static int parse_call_graph(void *ctx, const char *arg)
{
	struct profile_cmd *cmd = ctx;
	char *words __cleanup(free_ptr) = strdup(arg ? arg : "fp"), *rest = words, *word;

	cmd->g = true;
	while (words && (word = strsep(&rest, ","))) {
		if (!strcmp(word, "caller"))
			cmd->options.is_caller = true;
		else if (!strcmp(word, "callee"))
			cmd->is_callee = true;
		else if (strcmp(word, "fp"))
			return refuse_call_graph(word);
	}
	return words ? 0 : -EINVAL;
}

static int parse_limit(void *ctx, const char *arg)
{
	struct profile_cmd *cmd = ctx;
	char *end;

	cmd->options.percent_limit = strtod(arg, &end);
	if (end != arg && !*end && cmd->options.percent_limit >= 0 &&
	    cmd->options.percent_limit <= 100)
		return 0;
	pr_err("--percent-limit %s: not a number from 0 to 100", arg);
	return -EINVAL;
}

static int parse_ip(void *ctx, const char *arg)
{
	static const struct {
		const char *name, *sort;
	} ways[] = {{"symbol", "dso,sym"},
		    {"address", "dso,ip"},
		    {"page", "dso,page"},
		    {"line", "dso,srcline"}};
	struct profile_cmd *cmd = ctx;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		if (arg && strcmp(arg, ways[i].name))
			continue;
		cmd->by = ways[i].sort;
		return 0;
	}
	pr_err("--ip %s: not one of symbol, address, page, line", arg);
	return -EINVAL;
}

static int parse_range(void *ctx, const char *arg)
{
	struct profile_cmd *cmd = ctx;

	return profile_ranges__add(&cmd->run.ranges, arg);
}

static int parse_data(void *ctx, const char *arg)
{
	struct profile_cmd *cmd = ctx;

	if (arg && strcmp(arg, "address") && strcmp(arg, "page")) {
		pr_err("--data %s: not one of address, page", arg);
		return -EINVAL;
	}
	cmd->data = true;
	cmd->run.sampling.addr_bits =
		arg && !strcmp(arg, "page") ? __builtin_ctzl(sysconf(_SC_PAGESIZE)) : 0;
	return 0;
}

static int parse_each(void *ctx, const char *arg)
{
	struct profile_cmd *cmd = ctx;
	char *end = "";
	unsigned long room = arg ? strtoul(arg, &end, 10) : EACH_ROOM;

	if ((arg && !isdigit((unsigned char)*arg)) || *end || !room || room > EACH_ROOM_MAX) {
		pr_err("--each %s: not a number of samples from 1 to %d", arg, EACH_ROOM_MAX);
		return -EINVAL;
	}
	cmd->run.sampling.nr_singles = room;
	return 0;
}

static bool is_url(const char *text)
{
	static const char *const schemes[] = {"http://", "https://", "file://"};

	text += strspn(text, " ");
	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		if (!strncmp(text, schemes[i], strlen(schemes[i])))
			return true;
	}
	return false;
}

static int parse_debuginfod(void *ctx, const char *arg)
{
	struct profile_cmd *cmd = ctx;

	cmd->debuginfod = arg ? arg : getenv("DEBUGINFOD_URLS");
	if (!cmd->debuginfod || (!arg && !*cmd->debuginfod)) {
		pr_err("--debuginfod: DEBUGINFOD_URLS is not set: --debuginfod=URLS");
		return -EINVAL;
	}
	if (!*cmd->debuginfod || is_url(cmd->debuginfod))
		return 0;
	pr_err("--debuginfod %s: not a URL: http://, https:// or file://",
	       shown_arg(cmd->debuginfod));
	return -EINVAL;
}

#define AT(field) offsetof(struct profile_cmd, field)

static const struct option_row rows[] = {
	{'a', "all-cpus", OPT_FLAG, AT(run.base.target.system_wide),
	 .help = "sample all CPUs (the default)"},
	{0, "annotate", OPT_STRING, AT(annotate), .arg = "symbol",
	 .help = "print the instructions of this function with their samples and source lines"},
	{0, "bpf", OPT_NEGATED, AT(run.no_bpf),
	 .help = "copy every sample to perf, in place of sharing sampling events"},
	{0, "bpf-attr-map", OPT_STRING, AT(run.sampling.attr_map_path), .arg = "path",
	 .help = "where the map of shared events is pinned"},
	{'c', "count", OPT_CALL, .call = parse_c, .arg = "period",
	 .help = "take a sample each time so many events have happened"},
	{'C', "cpu", OPT_STRING, AT(run.base.target.cpu_list), .arg = "cpu-list",
	 .help = "sample these CPUs"},
	{0, "call-graph", OPT_CALL, .call = parse_call_graph, .arg = "fp,caller,callee",
	 .help = "as -g; caller: what each function called; callee: what called it"},
	{0, "children", OPT_NEGATED, AT(options.no_children),
	 .help = "with -g: no rows of functions for what they called"},
	{0, "control", OPT_STRING, AT(control_spec), .arg = "fd:ctl[,ack]|fifo:ctl[,ack]",
	 .help = "take commands: enable, disable, evlist, ping, stop"},
	{'d', "data", OPT_CALL_OPT, .call = parse_data, .arg = "address,page",
	 .help = "a first column for the address of the data that the instruction used"},
	{0, "debuginfod", OPT_CALL_OPT, .call = parse_debuginfod, .arg = "urls",
	 .help = "ask these servers for debug information that is missing here (DEBUGINFOD_URLS)"},
	{'D', "delay", OPT_INT, AT(run.base.delay_ms), .arg = "ms",
	 .help = "start sampling after this time; -1: when --control enables it"},
	{0, "diff", OPT_STRING, AT(diff), .arg = "before",
	 .help = "compare two files of --folded: --diff BEFORE AFTER"},
	{0, "dump-maps", OPT_FLAG, AT(dump_maps),
	 .help = "with --prog: print the maps of the program at the end"},
	{0, "each", OPT_CALL_OPT, .call = parse_each, .arg = "room",
	 .help = "with -o: also write each sample with its time; room: so many of a CPU at a time (4096)"},
	{'e', "event", OPT_CALL, .call = parse_e, .arg = "event",
	 .help = "event to sample: perf list; cycles by default, or cpu-clock"},
	{'F', "freq", OPT_CALL, .call = parse_F, .arg = "hz|max",
	 .help = "samples a second of a busy CPU (99)"},
	{0, "flamegraph", OPT_STRING, AT(files.paths[PROFILE_FLAMEGRAPH]), .arg = "file",
	 .help = "draw the stacks into this .svg or .html file"},
	{0, "folded", OPT_FLAG, AT(folded),
	 .help = "print each stack on a line, as flame graphs need it"},
	{0, "for-each-cgroup", OPT_STRING, AT(each_cgroup), .arg = "list",
	 .help = "sample only these cgroups, each with rows of its own"},
	{'g', NULL, OPT_CALL_NONE, .call = parse_call_graph, .help = "print call trees"},
	{'G', "cgroup", OPT_CALL, .call = parse_G, .arg = "name,...",
	 .help = "sample only these cgroups"},
	{'i', "inherit", OPT_NEGATED, AT(run.base.target.no_inherit),
	 .help = "do not sample children"},
	{0, "icicle", OPT_FLAG, AT(options.is_icicle),
	 .help = "with --flamegraph: draw from the commands at the top down"},
	{0, "idle", OPT_FLAG, AT(run.sampling.with_idle), .help = "also sample idle CPUs"},
	{0, "inline", OPT_FLAG, AT(inlines),
	 .help = "frames for inlined functions, from debug information"},
	{0, "ip", OPT_CALL_OPT, .call = parse_ip, .arg = "symbol,address,page,line",
	 .help = "a row for each function, instruction, page of code or source line, without stacks"},
	{'I', "interval-print", OPT_CALL, .call = parse_interval, .arg = "ms",
	 .help = "print the samples of each interval"},
	{0, "interval-count", OPT_UINT, AT(run.base.interval_count), .arg = "n",
	 .help = "stop after n intervals"},
	{'j', "json-output", OPT_FLAG, AT(json), .help = "print JSON"},
	{0, "kernel-callchains", OPT_FLAG, AT(only_kernel_chains),
	 .help = "take stacks of the kernel only"},
	{'K', "hide-kernel-symbols", OPT_FLAG, AT(hide_kernel),
	 .help = "do not print functions of the kernel"},
	{0, "lines", OPT_FLAG, AT(lines),
	 .help = "a column for source lines, also in stacks, from debug information"},
	{0, "max-stack", OPT_UINT, AT(max_stack), .arg = "n",
	 .help = "frames of the kernel and of user space each, at most (127)"},
	{'o', "output", OPT_STRING, AT(data_path), .arg = "file",
	 .help = "write the samples into this perf.data"},
	{'p', "pid", OPT_STRING, AT(run.base.target.pid_list), .arg = "pid-list",
	 .help = "sample these processes"},
	{0, "percent-limit", OPT_CALL, .call = parse_limit, .arg = "percent",
	 .help = "do not print rows and branches below"},
	{0, "pprof", OPT_STRING, AT(files.paths[PROFILE_PPROF]), .arg = "file",
	 .help = "write the stacks for pprof, compressed (.pb.gz)"},
	{0, "prog", OPT_STRING, AT(prog), .arg = "file",
	 .help = "run the BPF program of this object at each sample (section perf_event)"},
	{0, "range", OPT_CALL, .call = parse_range, .arg = "name|start-end",
	 .help = "sample only this function, module, file or range of addresses; may be repeated"},
	{'s', "sort", OPT_STRING, AT(sort), .arg = "key,...",
	 .help = "columns: comm, pid, tid, cpu, cgroup, prio, dso, sym, ip, page, daddr, srcline (" PROFILE_DEFAULT_SORT
		 ")"},
	{0, "stacks", OPT_FLAG, AT(stacks), .help = "print all stacks, a frame on each line"},
	{'t', "tid", OPT_STRING, AT(run.base.target.tid_list), .arg = "tid-list",
	 .help = "sample these threads"},
	{0, "timeout", OPT_UINT, AT(run.base.timeout_ms), .arg = "ms",
	 .help = "stop after this time"},
	{'u', "uid", OPT_STRING, AT(user), .arg = "user",
	 .help = "sample the processes that this user has now"},
	{0, "user-callchains", OPT_FLAG, AT(only_user_chains),
	 .help = "take stacks of user space only"},
	{'U', "hide-user-symbols", OPT_FLAG, AT(hide_user),
	 .help = "do not print functions of user space"},
	{'v', "verbose", OPT_COUNT, AT(verbose), .help = "print more messages; repeat for more"},
	{'x', "field-separator", OPT_CALL, .call = parse_sep, .arg = "separator",
	 .help = "print fields with this separator"},
	{},
};

int profile_cmd__parse(struct profile_cmd *cmd, int argc, char **argv)
{
	return parse_options__parse(rows, usage, cmd, argc, argv);
}

const struct option_row *profile_parse__option(const char *name)
{
	const struct option_row *row = rows;

	while (!row->name ? row->letter : strcmp(row->name, name))
		row++;
	return row;
}

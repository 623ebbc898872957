// SPDX-License-Identifier: GPL-2.0
#include "util/cmd/top_parse.h"

#include "util/cmd/profile_events.h"
#include "util/cmd/profile_life.h"
#include "util/cmd/profile_parse.h"
#include "util/cmd/top_cmd.h"
#include "util/event/evlist.h"
#include "util/event/parse_events.h"
#include "util/event/pmu.h"
#include "util/lib/msg.h"
#include "util/lib/parse_options.h"
#include "util/lib/program.h"
#include "util/lib/terminal.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "perf top [<options>]";

/* --- options --- */

unsigned int top_parse__delay(const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0.1 && seconds <= 3600))
		return 0;
	return seconds * 1000 + 0.5;
}

static int parse_delay(void *ctx, const char *arg)
{
	struct top_cmd *top = ctx;
	unsigned int ms = top_parse__delay(arg);

	if (!ms) {
		pr_err("-d %s: not a number of seconds from 0.1 to 3600", arg);
		return -EINVAL;
	}
	top->profile.run.base.config.options.interval_ms = ms;
	return 0;
}

static int parse_call_graph(void *ctx, const char *arg)
{
	return profile_parse__option("call-graph")->call(ctx, arg);
}

#define AT(field) offsetof(struct top_cmd, field)

static const struct option_row own_rows[] = {
	{'d', "delay", OPT_CALL, .call = parse_delay, .arg = "seconds",
	 .help = "time between two tables (2)"},
	{'E', "entries", OPT_UINT, AT(entries), .arg = "n", .help = "print at most so many rows"},
	{'f', "count-filter", OPT_UINT, AT(count_filter), .arg = "n",
	 .help = "print only rows with more samples"},
	{'g', NULL, OPT_CALL_NONE, .call = parse_call_graph, .help = "print call trees"},
	{'n', "show-nr-samples", OPT_FLAG, AT(ignored), .help = "print samples: always so"},
	{0, "stdio", OPT_FLAG, AT(ignored), .help = "plain text without windows: always so"},
	{'z', "zero", OPT_FLAG, AT(zero), .help = "print the last interval only"},
};

/* Options with the same meaning as for perf profile. */
static const char *const shared_rows[] = {
	"all-cpus",
	"bpf",
	"bpf-attr-map",
	"call-graph",
	"count",
	"cpu",
	"children",
	"control",
	"event",
	"freq",
	"for-each-cgroup",
	"cgroup",
	"inherit",
	"idle",
	"interval-count",
	"hide-kernel-symbols",
	"max-stack",
	"pid",
	"percent-limit",
	"sort",
	"tid",
	"timeout",
	"uid",
	"hide-user-symbols",
	"verbose",
};

#define NR_ROWS (ARRAY_SIZE(own_rows) + ARRAY_SIZE(shared_rows))

/* In the order of the names, as in the help of other commands. */
static int compare_rows(const void *a, const void *b)
{
	const struct option_row *x = a, *y = b;

	return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

/* @rows: room for all, and for the end */
static void make_rows(struct option_row *rows)
{
	size_t nr = 0;

	for (size_t i = 0; i < ARRAY_SIZE(own_rows); i++)
		rows[nr++] = own_rows[i];
	for (size_t i = 0; i < ARRAY_SIZE(shared_rows); i++)
		rows[nr++] = *profile_parse__option(shared_rows[i]);
	qsort(rows, nr, sizeof(*rows), compare_rows);
	rows[nr] = (struct option_row){};
}

/* Names of Linux's perf with underscores are ours with hyphens. */
static void rename_options(int argc, char **argv)
{
	static char names[][24] = {"--hide-kernel-symbols", "--hide-user-symbols"};
	static const char *const linux_names[] = {"--hide_kernel_symbols", "--hide_user_symbols"};

	for (int i = 1; i < argc; i++) {
		for (size_t j = 0; j < ARRAY_SIZE(linux_names); j++) {
			if (!strcmp(argv[i], linux_names[j]))
				argv[i] = names[j];
		}
	}
}

/* --- what follows --- */

/*
 * On a screen, columns change at any time. So samples have every part of the key that costs nothing to
 * read. The kernel empties its tables before they can be full, however many keys there are.
 */
static void widen_key(struct profile_cmd *cmd)
{
	if (!(cmd->run.sampling.key & (SAMPLE_KERNEL_STACK | SAMPLE_USER_STACK)))
		cmd->run.sampling.key |= SAMPLE_IP;
	cmd->run.sampling.key |=
		SAMPLE_COMM | SAMPLE_PROCESS | SAMPLE_THREAD | SAMPLE_CPU | SAMPLE_PRIO;
	cmd->run.samples.key = cmd->run.sampling.key;
}

static int settle(struct top_cmd *top, int first, int argc, char **argv)
{
	struct profile_cmd *cmd = &top->profile;
	int status = profile_cmd__settle(cmd, first, argc, argv);

	if (status)
		return status;
	top->is_screen = terminal__is_there();
	cmd->options.has_interval = !top->is_screen;
	cmd->options.min_samples = (uint64_t)top->count_filter + 1;
	cmd->options.max_rows = top->entries < INT32_MAX ? top->entries : 0;
	/* Rows are hidden where they are printed, so that keys can bring them back. */
	cmd->options.hides_in_trees = true;
	cmd->run.samples.no_kernel = cmd->run.samples.no_user = false;
	if (top->is_screen)
		widen_key(cmd);
	return 0;
}

int top_cmd__parse(struct top_cmd *top, int argc, char **argv)
{
	struct option_row rows[NR_ROWS + 1];
	int first;

	make_rows(rows);
	rename_options(argc, argv);
	top->profile.run.base.config.options.interval_ms = TOP_DEFAULT_DELAY_MS;
	first = parse_options__parse(rows, usage, top, argc, argv);
	if (first < 0)
		return -first;
	if (first < argc) {
		pr_err("%s: no argument is expected (%s profile samples commands)",
		       shown_arg(argv[first]), program__name());
		return STATUS_USAGE;
	}
	return settle(top, first, argc, argv);
}

/* --- ours or Linux's --- */

static bool is_call_graph(const char *arg)
{
	char *words __cleanup(free_ptr) = strdup(arg), *rest = words, *word;

	while (words && (word = strsep(&rest, ","))) {
		if (strcmp(word, "fp") && strcmp(word, "caller") && strcmp(word, "callee"))
			return false;
	}
	return true;
}

/* Events that are wrong are ours: the message about them is. */
static bool can_sample(const char *arg)
{
	struct pmus *pmus = pmus__new(sysfs_root());
	struct evlist *events = evlist__new();
	struct parse_error error = {};
	bool can = true;

	if (pmus && events && !parse_events(events, pmus, arg, &error)) {
		for (int i = 0; i < events->nr; i++)
			can = can && !profile_events__why_not(events->evsels[i]);
	}
	parse_error__clear(&error);
	evlist__delete(events);
	pmus__delete(pmus);
	return can;
}

static bool takes(const struct option_row *row, const char *arg)
{
	if (!row->name)
		return true;
	if (!strcmp(row->name, "call-graph"))
		return is_call_graph(arg);
	if (!strcmp(row->name, "sort"))
		return sort_keys__are_known(arg);
	return strcmp(row->name, "event") || can_sample(arg);
}

bool top_cmd__is_ours(int argc, char **argv)
{
	struct option_row rows[NR_ROWS + 1];
	/* The next perf gets them as they were typed. */
	char **args __cleanup(free_ptr) = calloc(argc + 1, sizeof(*args));

	if (!args)
		return true;
	memcpy(args, argv, argc * sizeof(*args));
	make_rows(rows);
	rename_options(argc, args);
	return parse_options__knows(rows, argc, args, takes);
}

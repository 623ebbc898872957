// SPDX-License-Identifier: GPL-2.0
/* perf script: print recorded counts one by one for other programs. */
#include "builtin.h"

#include "util/cmd/stat_report.h"
#include "util/data/peek.h"
#include "util/data/reader.h"
#include "util/data/replay.h"
#include "util/event/counts.h"
#include "util/event/evlist.h"
#include "util/event/pmu.h"
#include "util/host/cpumap.h"
#include "util/lib/msg.h"
#include "util/lib/parse_options.h"
#include "util/lib/printable.h"
#include "util/lib/util.h"
#include "util/report/aggr.h"
#include "util/target/thread_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct script_cmd {
	const char *input;
	int verbose;
	struct evlist *evlist;
	struct pmus *pmus;
	struct data_reader *reader;
	struct data_replay events;
	bool is_ready;	      /* get_ready() has made room for all counts */
	struct counts **last; /* per event: its counts in the previous round */
	bool is_over;	      /* the final round has been printed */
	bool is_pending;      /* there are counts of a round without an end yet */
	uint64_t nr_rounds;
};

/*
 * Return: the counts to print, like Linux's perf. Global counts are as recorded, sums so far. Counts
 * by CPU, thread, socket and the like are scaled, and since the previous round.
 */
static struct counts_values to_print(const struct script_cmd *cmd, const struct evsel *evsel,
				     int cpu, int thread)
{
	struct counts_values now = *counts__at(evsel->counts, cpu, thread), delta, *last;

	if (cmd->events.config.aggr_mode == AGGR_GLOBAL)
		return now;
	last = counts__at(cmd->last[evsel->idx], cpu, thread);
	delta = counts_values__since(&now, last);
	*last = now;
	if (cmd->events.config.scale)
		delta.value = counts_values__scaled(&delta);
	return delta;
}

static void print_event(const struct script_cmd *cmd, const struct evsel *evsel, uint64_t time_ns)
{
	/* A count of several threads together is stored with the first one. */
	int nr_threads = evsel->threads && !evsel->threads_as_one ? evsel->threads->nr : 1;

	for (int thread = 0; thread < nr_threads; thread++) {
		for (int cpu = 0; cpu < evsel->cpus->nr; cpu++) {
			struct counts_values counts = {};

			if (evsel->counts)
				counts = to_print(cmd, evsel, cpu, thread);

			printf("%3d %8d %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " ",
			       evsel->cpus->cpu[cpu],
			       evsel->threads ? evsel->threads->thread[thread].tid : -1,
			       counts.value, counts.enabled_ns, counts.running_ns, time_ns);
			printable__put(stdout, 0, evsel->name);
			putchar('\n');
		}
	}
}

/* Print all counts of the round that this record ends. */
static int print_round(struct script_cmd *cmd, struct data_record *record)
{
	struct data_round_end round;
	struct evsel *evsel;
	int i, err = data_replay__take_round(&cmd->events, record, &round);

	if (err)
		return err;
	if (!cmd->nr_rounds++)
		printf("%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA", "RUN",
		       "TIME", "EVENT");
	evlist__for_each(cmd->evlist, evsel, i)
		print_event(cmd, evsel, round.time_ns);
	cmd->is_over = round.is_final;
	cmd->is_pending = false;
	/* Flush, or the reader of a stream would get each interval late. */
	if (!fflush(stdout))
		return 0;
	err = -errno;
	pr_err("writing failed: %s", strerror(-err));
	return err;
}

/* Make room for counts: all records that come before the first counts have been read. */
static int get_ready(struct script_cmd *cmd)
{
	int i, err = data_replay__complete(&cmd->events);
	struct evsel *evsel;

	if (err)
		return err;
	cmd->last = calloc(cmd->evlist->nr + 1, sizeof(*cmd->last));
	if (!cmd->last)
		return -ENOMEM;
	evlist__for_each(cmd->evlist, evsel, i) {
		if (!evsel->counts)
			continue;
		cmd->last[i] = counts__new(evsel->counts->nr_cpus, evsel->counts->nr_threads);
		if (!cmd->last[i])
			return -ENOMEM;
	}
	cmd->is_ready = true;
	return 0;
}

static int take(struct script_cmd *cmd, struct data_record *record)
{
	bool has_counts = record->type == RECORD_STAT || record->type == RECORD_STAT_ROUND;
	int err;

	if (!has_counts)
		return cmd->is_ready ? 0 : data_replay__take(&cmd->events, record);
	if (!cmd->is_ready) {
		err = get_ready(cmd);
		if (err)
			return err;
	}
	/* Ignore records after the final round: they have no counts of the session. */
	if (cmd->is_over)
		return 0;
	if (record->type == RECORD_STAT_ROUND)
		return print_round(cmd, record);
	cmd->is_pending = true;
	return data_replay__take_stat(&cmd->events, record);
}

static int print_all(struct script_cmd *cmd)
{
	struct data_record record;
	int more, err = data_reader__check_stat(cmd->reader);

	cmd->events.reader = cmd->reader;
	while (!err && (more = data_reader__next(cmd->reader, &record)))
		err = more < 0 ? more : take(cmd, &record);
	if (!err && (!cmd->nr_rounds || cmd->is_pending))
		err = data_replay__cut_short(&cmd->events);
	if (err == -ENOMEM)
		pr_err("out of memory");
	return err;
}

#define AT(member) offsetof(struct script_cmd, member)

static const struct option_row rows[] = {
	{'i', "input", OPT_STRING, AT(input), .arg = "file",
	 .help = "read this file (default: perf.data, or stdin if that is a pipe)"},
	{'v', "verbose", OPT_COUNT, AT(verbose), .help = "print more messages; repeat for more"},
	{}};

int cmd_script(int argc, char **argv)
{
	struct script_cmd cmd = {};
	int first, status = STATUS_NO_DATA;

	msg__init("perf script");
	first = parse_options__parse(rows, "perf script [-i FILE]", &cmd, argc, argv);
	if (first < 0)
		return -first;
	if (first < argc) {
		pr_err("%s: no argument is expected (a file: -i)", shown_arg(argv[first]));
		return OPTIONS_USAGE_STATUS;
	}
	msg__set_verbose(cmd.verbose);
	cmd.pmus = pmus__new(sysfs_root());
	cmd.evlist = evlist__new();
	if (!cmd.pmus || !cmd.evlist)
		pr_err("%s", strerror(errno));
	cmd.events.evlist = cmd.evlist;
	cmd.events.pmus = cmd.pmus;
	if (cmd.evlist && cmd.pmus &&
	    !data_reader__open(cmd.input ? cmd.input : data_path(STDIN_FILENO), &cmd.reader) &&
	    !print_all(&cmd))
		status = 0;
	for (int i = 0; cmd.last && i < cmd.evlist->nr; i++)
		free(cmd.last[i]);
	free(cmd.last);
	if (cmd.evlist)
		data_replay__clear(&cmd.events);
	evlist__delete(cmd.evlist);
	pmus__delete(cmd.pmus);
	data_reader__delete(cmd.reader);
	return status;
}

/* Return: the value of an option, in this argument or the next one; NULL: another option. */
static const char *value_of(char **argv, int *i, const char *option)
{
	size_t len = strlen(option);

	if (strncmp(argv[*i], option, len))
		return NULL;
	if (!argv[*i][len])
		return argv[++*i];
	if (option[1] != '-')
		return argv[*i] + len;
	return argv[*i][len] == '=' ? argv[*i] + len + 1 : NULL;
}

static bool is_own_flag(const char *arg)
{
	return (arg[0] == '-' && arg[1] == 'v' && !arg[strspn(arg + 1, "v") + 1]) ||
	       !strcmp(arg, "--verbose") || !strcmp(arg, "--no-verbose");
}

bool cmd_script_is_ours(int argc, char **argv)
{
	const char *input = NULL, *value;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help") ||
		    !strcmp(argv[i], "--list-opts"))
			return true;
		if (is_own_flag(argv[i]))
			continue;
		value = value_of(argv, &i, "-i");
		if (!value && i < argc)
			value = value_of(argv, &i, "--input");
		if (!value)
			return i >= argc; /* -i without a file: ours prints the error */
		input = value;
	}
	return !peek__is_foreign(input ? input : data_path(STDIN_FILENO));
}

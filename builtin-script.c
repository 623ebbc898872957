// SPDX-License-Identifier: GPL-2.0
/* perf script: what perf stat record wrote, count by count, for other programs to read. */
#include "builtin.h"

#include "util/aggr.h"
#include "util/counts.h"
#include "util/cpumap.h"
#include "util/data_events.h"
#include "util/data_reader.h"
#include "util/evlist.h"
#include "util/msg.h"
#include "util/options.h"
#include "util/pmu.h"
#include "util/stat_report.h"
#include "util/thread_map.h"
#include "util/util.h"

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
	struct data_events events;
	bool is_ready;			/* the counts of all events have a place */
	struct counts **last;		/* per event: those of the round before */
	bool is_over;			/* the final round has come */
	bool is_pending;		/* counts of a round that has not ended */
	uint64_t nr_rounds;
};

/*
 * As Linux's perf has it: counts of the whole as they are recorded, sums so far; those of anything
 * smaller (by CPU, thread, socket) since the round before, scaled.
 */
static struct counts_values to_print(const struct script_cmd *cmd, const struct evsel *evsel, int cpu,
				     int thread)
{
	struct counts_values now = *counts__at(evsel->counts, cpu, thread), *last;

	if (cmd->events.config.aggr_mode == AGGR_GLOBAL)
		return now;
	last = counts__at(cmd->last[evsel->idx], cpu, thread);
	now.val -= last->val;
	now.ena -= last->ena;
	now.run -= last->run;
	*last = *counts__at(evsel->counts, cpu, thread);
	if (cmd->events.config.scale)
		now.val = counts_values__scaled(&now);
	return now;
}

static void print_event(const struct script_cmd *cmd, const struct evsel *evsel, uint64_t time_ns)
{
	/* Counts of several threads together stand with the first. */
	int nr_threads = evsel->threads && !evsel->threads_as_one ? evsel->threads->nr : 1;

	for (int thread = 0; thread < nr_threads; thread++) {
		for (int cpu = 0; cpu < evsel->cpus->nr; cpu++) {
			struct counts_values counts = {};

			if (evsel->counts)
				counts = to_print(cmd, evsel, cpu, thread);

			printf("%3d %8d %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %s\n",
			       evsel->cpus->cpu[cpu],
			       evsel->threads ? evsel->threads->thread[thread].tid : -1,
			       counts.val, counts.ena, counts.run, time_ns, evsel->name);
		}
	}
}

/* What has been counted until then. */
static int print_round(struct script_cmd *cmd, struct data_record *record)
{
	struct data_round_end round;
	struct evsel *evsel;
	int i, err = data_events__take_round(&cmd->events, record, &round);

	if (err)
		return err;
	if (!cmd->nr_rounds++)
		printf("%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA", "RUN",
		       "TIME", "EVENT");
	evlist__for_each(cmd->evlist, evsel, i)
		print_event(cmd, evsel, round.time_ns);
	cmd->is_over = round.is_final;
	cmd->is_pending = false;
	/* Whoever reads intervals of a stream wants them now. */
	if (!fflush(stdout))
		return 0;
	err = -errno;
	pr_err("writing failed: %s", strerror(-err));
	return err;
}

/* All is known that comes before the first counts. */
static int get_ready(struct script_cmd *cmd)
{
	int i, err = data_events__complete(&cmd->events);
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
		return cmd->is_ready ? 0 : data_events__take(&cmd->events, record);
	if (!cmd->is_ready) {
		err = get_ready(cmd);
		if (err)
			return err;
	}
	/* Behind the final round is nothing that has been counted. */
	if (cmd->is_over)
		return 0;
	if (record->type == RECORD_STAT_ROUND)
		return print_round(cmd, record);
	cmd->is_pending = true;
	return data_events__take_stat(&cmd->events, record);
}

static int print_all(struct script_cmd *cmd)
{
	struct data_record record;
	int more, err = data_reader__check_stat(cmd->reader);

	cmd->events.reader = cmd->reader;
	while (!err && (more = data_reader__next(cmd->reader, &record)))
		err = more < 0 ? more : take(cmd, &record);
	if (!err && (!cmd->nr_rounds || cmd->is_pending))
		err = data_events__cut_short(&cmd->events);
	if (err == -ENOMEM)
		pr_err("out of memory");
	return err;
}

#define AT(member) offsetof(struct script_cmd, member)

static const struct option_row rows[] = {
	{ 'i', "input", OPT_STRING, AT(input), .arg = "file",
	  .help = "read this file: perf.data, or stdin when that is a pipe" },
	{ 'v', "verbose", OPT_COUNT, AT(verbose), .help = "say more; repeat for more" },
	{}
};

int cmd_script(int argc, char **argv)
{
	struct script_cmd cmd = {};
	int first, status = STATUS_NO_DATA;

	msg__init("perf script");
	first = options__parse(rows, "perf script [-i FILE]", &cmd, argc, argv);
	if (first < 0)
		return -first;
	if (first < argc) {
		pr_err("%s: no argument is expected (a file: -i)", argv[first]);
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
		data_events__clear(&cmd.events);
	evlist__delete(cmd.evlist);
	pmus__delete(cmd.pmus);
	data_reader__delete(cmd.reader);
	return status;
}

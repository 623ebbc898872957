// SPDX-License-Identifier: GPL-2.0
/* perf script: what perf stat record wrote, count by count, for other programs to read. */
#include "builtin.h"

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
#include <string.h>

struct script_cmd {
	const char *input;
	int verbose;
	struct evlist *evlist;
	struct pmus *pmus;
	struct data_reader *reader;
	struct data_events events;
	bool is_ready;			/* the counts of all events have a place */
	bool is_over;			/* the final round has come */
	uint64_t nr_rounds;
};

static void print_event(const struct evsel *evsel, uint64_t time_ns)
{
	static const struct counts_values nothing;
	int nr_threads = evsel->threads ? evsel->threads->nr : 1;

	/* Counts of several threads together stand with the first. */
	if (evsel->counts)
		nr_threads = evsel->counts->nr_threads;
	for (int thread = 0; thread < nr_threads; thread++) {
		for (int cpu = 0; cpu < evsel->cpus->nr; cpu++) {
			const struct counts_values *counts =
				evsel->counts ? counts__at(evsel->counts, cpu, thread) : &nothing;

			printf("%3d %8d %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %s\n",
			       evsel->cpus->cpu[cpu],
			       evsel->threads ? evsel->threads->thread[thread].tid : -1,
			       counts->val, counts->ena, counts->run, time_ns, evsel->name);
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
		print_event(evsel, round.time_ns);
	cmd->is_over = round.is_final;
	/* Whoever reads intervals of a stream wants them now. */
	if (!fflush(stdout))
		return 0;
	err = -errno;
	pr_err("writing failed: %s", strerror(-err));
	return err;
}

static int take(struct script_cmd *cmd, struct data_record *record)
{
	bool has_counts = record->type == RECORD_STAT || record->type == RECORD_STAT_ROUND;
	int err;

	if (!has_counts)
		return cmd->is_ready ? 0 : data_events__take(&cmd->events, record);
	if (!cmd->is_ready) {
		err = data_events__complete(&cmd->events);
		if (err)
			return err;
		cmd->is_ready = true;
	}
	/* Behind the final round is nothing that has been counted. */
	if (cmd->is_over)
		return 0;
	return record->type == RECORD_STAT ? data_events__take_stat(&cmd->events, record) :
					     print_round(cmd, record);
}

static int print_all(struct script_cmd *cmd)
{
	struct data_record record;
	int more, err = data_reader__check_stat(cmd->reader);

	cmd->events.reader = cmd->reader;
	while (!err && (more = data_reader__next(cmd->reader, &record)))
		err = more < 0 ? more : take(cmd, &record);
	if (!err && !cmd->nr_rounds)
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
	if (cmd.evlist)
		data_events__clear(&cmd.events);
	evlist__delete(cmd.evlist);
	pmus__delete(cmd.pmus);
	data_reader__delete(cmd.reader);
	return status;
}

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_RUN_SINK_H
#define PERF_RUN_SINK_H

/* A receiver of the counts of a run. */

#include "util/report/stat_times.h"

#include <stdbool.h>
#include <stdint.h>

struct stat_run;

/* A round of counts for a sink; evsel->counts has the counts. */
struct stat_round {
	bool is_interval;		/* -I: print what came since the last round */
	uint64_t time_ns;		/* since counting began */
	const struct stat_times *times; /* of the whole pass, which ends now; NULL before */
};

/*
 * The command line makes sinks and puts them into stat_run.sinks; the run calls them in that order.
 * Each function may be left out. Return: 0 or -errno; the run then ends.
 */
struct stat_sink {
	struct stat_sink *next;
	void *ctx; /* of the functions */

	/** begin() - a pass is about to count: its events are open */
	int (*begin)(void *ctx, const struct stat_run *run);

	/** round() - the counts are up to date */
	int (*round)(void *ctx, const struct stat_run *run, const struct stat_round *round);

	/** finish() - a series of passes is complete, perhaps without having counted */
	int (*finish)(void *ctx, const struct stat_run *run);
};

/** stat_sinks__begin(), stat_sinks__round() - call each sink up to the first that fails */
int stat_sinks__begin(struct stat_sink *sinks, const struct stat_run *run);
int stat_sinks__round(struct stat_sink *sinks, const struct stat_run *run,
		      const struct stat_round *round);

/** stat_sinks__finish() - call each sink, failures notwithstanding. Return: 0 or the first -errno */
int stat_sinks__finish(struct stat_sink *sinks, const struct stat_run *run);

#endif

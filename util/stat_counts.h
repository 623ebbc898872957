/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_STAT_COUNTS_H
#define PERF_UTIL_STAT_COUNTS_H

/* From raw counts per CPU and thread to scaled sums per event and row. */

#include "stat.h"

struct aggr;
struct counts;
struct evlist;
struct evsel;

/* What one event counted in one row. */
struct aggr_count {
	uint64_t val;		/* sum of the scaled values, before the event's own scale */
	uint64_t ena, run;	/* ns */
	double mean;		/* val; with -r the mean over the runs */
	double variance_pct;	/* standard error of the mean in percent of it; 0 without -r */
	int nr;			/* counters summed; 0: the event has none here */
	bool failed;		/* one of them counted nothing */
};

/* One event. */
struct event_counts {
	const struct aggr *aggr;	/* whose rows it has */
	struct aggr_count *rows;	/* aggr->nr_rows of them */
	struct counts *prev;		/* as of the previous interval; NULL: none */
	uint64_t cgroup;		/* whose it is: others may take a cgroup's place; 0: none */
	bool supported;
	bool by_cpu;			/* tasks or a cgroup, counted CPU by CPU: most CPUs never run them */
	bool is_enabled;		/* of such: a row has run */
	bool merged;			/* summed into its merge_leader, shown there */
	int nr_sources;			/* PMU instances in it */
};

struct stat_counts {
	const struct stat_config *config;
	const struct evlist *evlist;
	struct aggr *aggr;		/* rows of the mode asked for */
	struct aggr *core_aggr;		/* of percore events with -A; NULL: there are none */
	struct event_counts *events;	/* by evsel->idx */
	int nr_events;
};

/** stat_counts__new() - rows for the events' present CPUs and threads; NULL with errno ENOMEM */
struct stat_counts *stat_counts__new(const struct stat_config *config,
				     const struct evlist *evlist);
void stat_counts__delete(struct stat_counts *sc);

/**
 * stat_counts__collect() - sum up what the events' counts hold now
 * @delta: only what was added since the last collect with @delta
 *
 * Return: 0 or -ENOMEM.
 */
int stat_counts__collect(struct stat_counts *sc, bool delta);

/** stat_counts__dump() - the lines of -v, of -vv also those per CPU */
void stat_counts__dump(const struct stat_counts *sc);

/**
 * stat_counts__find() - what an event counted in a row
 * @aggr: whose row @row is
 *
 * Merged events give their leader's sum, tool events what they counted anywhere.
 * Return: NULL when it did not count there.
 */
const struct aggr_count *stat_counts__find(const struct stat_counts *sc, const struct evsel *evsel,
					   const struct aggr *aggr, int row);

/** stat_counts__is_counted() - the row has a number to show */
bool stat_counts__is_counted(const struct event_counts *event, const struct aggr_count *count);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_REPORT_STAT_COUNTS_H
#define PERF_REPORT_STAT_COUNTS_H

/* Scaled sums per event and row, made from raw counts per CPU and thread. */

#include "util/event/counts.h"
#include "util/report/stat_config.h"

#include <stdbool.h>
#include <stdint.h>

struct aggr;
struct evlist;
struct evsel;

/* Sum of one event in one row. */
struct aggr_count {
	struct counts_values sum; /* of the scaled values, before the event's own scale */
	double mean;		  /* sum.value; with -r the mean over the repeats */
	double variance_pct;	  /* standard error of the mean in percent of it; 0 without -r */
	int nr;			  /* number of counters in the sum; 0: the event has none here */
	bool failed;		  /* one of them counted nothing */
};

/* Sums of one event. */
struct event_counts {
	const struct aggr *aggr; /* defines the rows */
	struct aggr_count *rows; /* aggr->nr_rows of them */
	struct counts *prev;	 /* counts at the previous interval; NULL: none */
	uint64_t cgroup; /* id of the counted cgroup, whose place another may take; 0: none */
	bool supported;
	bool by_cpu;	 /* counts tasks or a cgroup CPU by CPU; most CPUs never run them */
	bool is_enabled; /* with by_cpu: any counter was enabled */
	bool merged;	 /* summed into its merge_leader, shown there */
	int nr_sources;	 /* number of PMU instances in the sum */
};

struct stat_counts {
	const struct stat_config *config;
	const struct evlist *evlist;
	struct aggr *aggr;	     /* rows of the requested mode */
	struct aggr *core_aggr;	     /* rows of percore events with -A; NULL: there are none */
	struct event_counts *events; /* by evsel->idx */
	int nr_events;
};

/** stat_counts__new() - make rows for the CPUs and threads of the events; NULL with errno ENOMEM */
struct stat_counts *stat_counts__new(const struct stat_config *config, const struct evlist *evlist);
void stat_counts__delete(struct stat_counts *sc);

/**
 * stat_counts__collect() - sum up the current counts of the events
 * @delta: only the difference to the last collect with @delta
 *
 * Return: 0 or -ENOMEM.
 */
int stat_counts__collect(struct stat_counts *sc, bool delta);

/** stat_counts__dump() - print the lines of -v, and with -vv also those per CPU */
void stat_counts__dump(const struct stat_counts *sc);

/**
 * stat_counts__find() - the sum of an event in a row
 * @aggr: defines @row
 *
 * A merged event has its leader's sum. A tool event without a count in the row has that of the primary
 * row. Return: NULL if the event did not count there.
 */
const struct aggr_count *stat_counts__find(const struct stat_counts *sc, const struct evsel *evsel,
					   const struct aggr *aggr, int row);

/** stat_counts__is_counted() - return true if the row has a valid count */
bool stat_counts__is_counted(const struct event_counts *event, const struct aggr_count *count);

#endif

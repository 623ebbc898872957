/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_COUNTS_H
#define PERF_UTIL_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

/* What one counter (one event on one CPU and thread) has counted; raw, not scaled. */
struct counts_values {
	uint64_t val;		/* counter units */
	uint64_t ena;		/* ns the event was enabled */
	uint64_t run;		/* ns it was on the PMU */
};

/*
 * The counts of one evsel: a table of its CPUs by its threads, cumulative since counting was
 * first enabled; windows in which counting was off add nothing. Written by the back end's read(),
 * read by stat.
 */
struct counts {
	int nr_cpus;		/* rows: evsel->cpus */
	int nr_threads;		/* columns: evsel->threads; 1 for CPU targets */
	bool *offline;		/* per CPU: it is not there now; what it counted before stands */
	struct counts_values values[];
};

/** counts_values__scaled() - what the counter would have if it had counted all the time */
uint64_t counts_values__scaled(const struct counts_values *values);

/** counts__new() - a zeroed table, owned by the caller; NULL with errno ENOMEM */
struct counts *counts__new(int nr_cpus, int nr_threads);

static inline struct counts_values *counts__at(struct counts *counts, int cpu_idx, int thread)
{
	return &counts->values[cpu_idx * counts->nr_threads + thread];
}

#endif

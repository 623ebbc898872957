/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_COUNTS_H
#define PERF_EVENT_COUNTS_H

/* The counts of an event, per CPU and thread. */

#include <stdbool.h>
#include <stdint.h>

/* The raw count of one counter: one event on one CPU and thread. */
struct counts_values {
	uint64_t value;	     /* counter units */
	uint64_t enabled_ns; /* time the event was enabled */
	uint64_t running_ns; /* time the event was on the PMU */
};

/*
 * The counts of one evsel: a table of its CPUs by its threads. They are cumulative since counting was
 * first enabled. Times when counting is off add nothing. The back end's read() writes it, stat reads it.
 */
struct counts {
	int nr_cpus;	/* rows: evsel->cpus; 1: for all of them together */
	int nr_threads; /* columns: evsel->threads; 1 for CPU targets */
	bool *offline;	/* per CPU: it is offline; earlier counts stay */
	struct counts_values values[];
};

static inline void counts_values__add(struct counts_values *to, const struct counts_values *what)
{
	to->value += what->value;
	to->enabled_ns += what->enabled_ns;
	to->running_ns += what->running_ns;
}

/** counts_values__since() - the difference to an earlier reading of the same counter */
static inline struct counts_values counts_values__since(const struct counts_values *now,
							const struct counts_values *base)
{
	return (struct counts_values){
		.value = now->value - base->value,
		.enabled_ns = now->enabled_ns - base->enabled_ns,
		.running_ns = now->running_ns - base->running_ns,
	};
}

/** counts_values__scaled() - the estimated count for all of the enabled time */
uint64_t counts_values__scaled(const struct counts_values *values);

/** counts__new() - a zeroed table, owned by the caller; NULL with errno ENOMEM */
struct counts *counts__new(int nr_cpus, int nr_threads);

/**
 * counts__widen() - append zeroed columns
 * @counts: replaced by another one on success
 *
 * Return: 0 or -ENOMEM.
 */
int counts__widen(struct counts **counts, int nr_threads);

static inline struct counts_values *counts__at(struct counts *counts, int cpu_idx, int thread)
{
	return &counts->values[cpu_idx * counts->nr_threads + thread];
}

#endif

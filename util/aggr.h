/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_AGGR_H
#define PERF_UTIL_AGGR_H

/* Which counters are summed in which row: the CPUs' topology and the rows of a mode. */

#include "stat.h"
#include "topology.h"

#include <stdbool.h>

struct cpumap;
struct evlist;

/* What tells one row of a mode from another; -1 where the mode does not look. */
struct aggr_id {
	struct cpu_topology place;
	int cpu;			/* AGGR_NONE */
	int thread;			/* AGGR_THREAD, AGGR_PROG: index into the thread map */
};

struct aggr_row {
	struct aggr_id id;
	char name[160];			/* S0-D0-C1, COMM-TID, NAME-ID; AGGR_NONE: the CPU's number */
	char comm[16];			/* AGGR_THREAD */
	int tid;
};

/* The rows of one mode, in the order they are printed. */
struct aggr {
	enum aggr_mode mode;
	int nr_rows;
	struct aggr_row *rows;
	int primary;			/* row of CPU 0, else the first: where tool events belong */
	int nr_cpus;			/* size of the next two: highest CPU number + 1 */
	int *row_of_cpu;		/* -1: not measured */
	struct cpu_topology *topology;	/* of measured CPUs */
};

/* How a mode looks in output. */
struct aggr_style {
	const char *name;		/* CSV heading and JSON member; NULL: no prefix */
	int width;			/* of the id in standard format */
	bool counted;			/* the id is followed by the number of counters */
};

/** aggr_style() - never NULL; unknown modes look like AGGR_GLOBAL */
const struct aggr_style *aggr_style(enum aggr_mode mode);

/**
 * aggr__new() - find the rows that the CPUs and threads of a list's events make in a mode
 * @cache_level: of AGGR_CACHE; 0: the highest
 * @topology: where CPUs are; NULL: as sysfs says
 *
 * Modes made of CPUs fall back to AGGR_GLOBAL when no event has CPUs, AGGR_THREAD when none has
 * threads. Return: NULL with errno ENOMEM.
 */
struct aggr *aggr__new(enum aggr_mode mode, int cache_level, const struct topology *topology,
		       const struct evlist *evlist);
void aggr__delete(struct aggr *aggr);

/** aggr__row() - the row of a CPU (-1: any) and thread index; -1: in none */
int aggr__row(const struct aggr *aggr, int cpu, int thread);

/** aggr__topology() - where a CPU is; NULL for -1 and CPUs that are not measured */
const struct cpu_topology *aggr__topology(const struct aggr *aggr, int cpu);

#endif

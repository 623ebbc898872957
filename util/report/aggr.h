/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_REPORT_AGGR_H
#define PERF_REPORT_AGGR_H

/* Rows of an aggregation mode and their counters. */

#include "util/host/topology.h"

#include <stdbool.h>

struct evlist;

/* The scope of a row's sum. Numbers as in STAT_CONFIG records of perf.data; the finest one given wins. */
enum aggr_mode {
	AGGR_NONE,
	AGGR_GLOBAL,
	AGGR_SOCKET,
	AGGR_DIE,
	AGGR_CLUSTER,
	AGGR_CACHE,
	AGGR_CORE,
	AGGR_THREAD,
	AGGR_UNSET,
	AGGR_NODE,
	AGGR_PROG, /* BPF programs; not in Linux's perf */
	AGGR_PORT, /* of rows of --iostat; the counts are those of AGGR_GLOBAL */
};

/* Identity of a row. Fields that the mode ignores are -1. */
struct aggr_id {
	struct cpu_topology place;
	int cpu;    /* AGGR_NONE */
	int thread; /* AGGR_THREAD, AGGR_PROG: index into the thread map */
};

struct aggr_row {
	struct aggr_id id;
	char name[160]; /* S0-D0-C1, COMM-TID, NAME-ID; AGGR_NONE: the CPU's number */
	char comm[16];	/* AGGR_THREAD */
	int tid;
};

/* The rows of one mode, in the order they are printed. */
struct aggr {
	enum aggr_mode mode;
	int nr_rows;
	struct aggr_row *rows;
	int primary;		       /* row of CPU 0, otherwise the first: shows tool events */
	int nr_cpus;		       /* size of the next two: highest CPU number + 1 */
	int *row_of_cpu;	       /* by CPU; -1: not measured */
	struct cpu_topology *topology; /* by CPU; only of measured ones */
};

/* Appearance of a mode in output. */
struct aggr_style {
	const char *name; /* CSV heading and JSON member; NULL: no prefix */
	int width;	  /* of the id in text format */
	bool counted;	  /* the id is followed by the number of counters */
};

/** aggr_style() - appearance of a mode; never NULL, unknown modes look like AGGR_GLOBAL */
const struct aggr_style *aggr_style(enum aggr_mode mode);

/**
 * aggr__new() - make the rows of a mode for the CPUs and threads of a list's events
 * @cache_level: of AGGR_CACHE; 0: the highest
 * @topology: of the CPUs; NULL: read from sysfs
 *
 * Modes of CPUs fall back to AGGR_GLOBAL if no event has CPUs, AGGR_THREAD and AGGR_PROG if none has
 * threads. Return: NULL with errno ENOMEM.
 */
struct aggr *aggr__new(enum aggr_mode mode, int cache_level, const struct topology *topology,
		       const struct evlist *evlist);
void aggr__delete(struct aggr *aggr);

/** aggr__update() - add rows for new BPF programs; 0 or -ENOMEM */
int aggr__update(struct aggr *aggr, const struct evlist *evlist);

/** aggr__row() - the row of a CPU (-1: any) and thread index; -1: there is none */
int aggr__row(const struct aggr *aggr, int cpu, int thread);

/** aggr__topology() - topology of a CPU; NULL for -1 and CPUs that are not measured */
const struct cpu_topology *aggr__topology(const struct aggr *aggr, int cpu);

#endif

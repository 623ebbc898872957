/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_BPERF_H
#define PERF_UTIL_BPERF_H

/*
 * Counting through shared events, as the files of this back end see it: counter_bperf.c (its life),
 * bperf_open.c (the events of a plan) and bperf_windows.c (what is counted of them).
 */

#include "../bpf_skel/leader.h"
#include "counter.h"
#include "counts.h"
#include "evsel.h"

#include <stdbool.h>

struct attr_map;
struct bperf_cgroups;
struct bperf_progs;
struct bperf_scopes;
struct cpumap;
struct leader;

/* An event on one CPU, or of one row of tasks. */
struct bperf_cpu {
	struct event_reading base;	/* where the open window began; valid while has_base */
	bool has_base;
	struct counts_values before;	/* counted in windows that are over */
};

struct bperf_evsel {
	int slot;
	int event;			/* of tasks, cgroups, BPF programs: which of their events */
	int nr_errors;			/* readings that failed */
	int last_err;
	bool is_wanted;			/* what it counts from the next bperf__take() on is of a window */
	bool is_open;			/* what it counts is */
	/* As counts->values; of tasks, the columns are the rows of bperf->tasks, of BPF programs these. */
	struct bperf_cpu cell[];
};

struct bperf {
	struct counter base;
	struct attr_map *attr_map;
	struct leader *leader;
	struct cpumap *cpus;		/* all CPUs of all events */
	struct evsel **sharing;		/* work space: the events of one CPU */
	struct bperf_scopes *tasks;	/* NULL: CPUs are counted, cgroups on them, or BPF programs */
	struct bperf_cgroups *cgroups;	/* of the events that are restricted to one; NULL: none is */
	struct bperf_progs *progs;	/* NULL: no BPF programs are counted */
	bool exec_enables;		/* the first enable() is the workload's exec */
	__u64 lost;			/* what could not be counted before we began */
	int calls_fd;			/* what to wait for: calls, and a timer if there is need */
	int timer_fd;
	bool is_enabled;
};

static inline bool bperf__is_counting(const struct bperf *bperf, const struct evsel *evsel)
{
	return evsel->counter == &bperf->base && evsel->state == EVSEL_COUNTING;
}

/**
 * bperf__open_events() - open the plan's events that are UNOPENED
 *
 * The attr map must be locked. Return: 0, or -errno after a message.
 */
int bperf__open_events(struct bperf *bperf);

/**
 * bperf__open_targets() - have the events counted for what the plan names: CPUs, tasks, cgroups, programs
 *
 * The same.
 */
int bperf__open_targets(struct bperf *bperf);

/** bperf__counts_cgroups() - whether any event is restricted to one, opened or not */
bool bperf__counts_cgroups(const struct bperf *bperf);

/**
 * bperf__take() - bring all counts up to date; windows begin, go on, or end with that, as is wanted
 *
 * Return: 0, or -errno after a message.
 */
int bperf__take(struct bperf *bperf);

/** bperf__begin_at_zero() - the wanted windows of tasks begin, which have counted nothing yet */
void bperf__begin_at_zero(struct bperf *bperf);

/** bperf__begin_anew() - forget what an event has counted: it is for another cgroup now */
void bperf__begin_anew(struct bperf *bperf, struct evsel *evsel);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_STAT_RUN_H
#define PERF_UTIL_STAT_RUN_H

/* The run loop of perf stat: opens, starts, waits, reads, ends; knows neither back ends nor formats. */

#include "counter.h"
#include "stat.h"
#include "target.h"

#include <signal.h>

struct control;
struct stat_extra;
struct stat_record;

/* Exit statuses of perf stat; wrong usage has its own, OPTIONS_USAGE_STATUS. */
enum {
	STATUS_FAILED = 1,
	STATUS_NO_METRIC = 2,
	STATUS_INVALID = 22,
};

/* Joined to a signal that the command has got, too; gone with the next signal. */
#define SIGNAL_TYPED 0x100

/* What one perf stat does; filled by the command line. */
struct stat_run {
	struct counter_plan plan;
	struct target target;
	struct stat_config config;
	struct stat *stat;
	bool share_all;			/* --bpf-counters */
	const char *share_events;	/* as stat.bpf-counter-events, where permitted; NULL: none */
	bool explain;			/* --explain */
	int delay_ms;			/* -D; -1: disabled until --control says otherwise */
	unsigned int timeout_ms;	/* --timeout; 0: none */
	unsigned int interval_count;	/* 0: no limit */
	struct control *control;	/* NULL: none */
	struct stat_record *record;	/* gets the counts, too; NULL: perf stat record was not asked for */
	const struct stat_extra *extra;	/* what that says of the run */
	struct counter *kept;		/* from one stat_run__once() to the next; NULL: none */
	bool has_counted;		/* set by stat_run__once(): to the end, without an error of ours */
	bool was_killed;		/* set by stat_run__once(): a signal ended the workload */
	bool has_exited;		/* set by stat_run__once(): it exited, a signal had come */
	const volatile sig_atomic_t *signal;	/* the signal that asks us to end; 0: none yet */
};

/**
 * stat_run__assign() - whether and how each event can be counted, before anything is opened
 *
 * In stat_assign.c. Settles the CPUs, threads and back end of every event of the plan.
 * Return: 0, or a positive exit status after a message.
 */
int stat_run__assign(struct stat_run *run);

/**
 * stat_run__once() - count once, from opening to the last read; print intervals on the way
 *
 * Return: 0 or a positive exit status after a message: nothing was counted. @status receives the
 * exit status of the run itself: the workload's. The last one is to be followed by stat_run__end().
 */
int stat_run__once(struct stat_run *run, int *status);

/** stat_run__end() - release what was kept for another stat_run__once() */
void stat_run__end(struct stat_run *run);

#endif

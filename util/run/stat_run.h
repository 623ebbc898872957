/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_RUN_STAT_RUN_H
#define PERF_RUN_STAT_RUN_H

/* The settings and the state of one perf stat. */

#include "util/counter/counter.h"
#include "util/lib/parse_options.h"
#include "util/report/stat_config.h"
#include "util/target/target.h"

#include <signal.h>

struct control;
struct stat_pass;
struct stat_sink;

/*
 * How perf stat ended; the values are its exit statuses. Only functions that decide about the end of
 * perf return them, all others -errno.
 */
enum stat_status {
	STATUS_OK,
	STATUS_FAILED,
	STATUS_NO_METRIC,    /* -M: no such metric */
	STATUS_INVALID = 22, /* invalid options or arguments */
	STATUS_USAGE = OPTIONS_USAGE_STATUS,
	STATUS_NO_DATA = 255, /* record and report: nothing to write to, nothing to read */
};

/* Added to the signal if the terminal sent it: the command got it as well. Gone with the next signal. */
#define SIGNAL_TYPED 0x100

/* Filled by the command line, up to the fields that say otherwise. */
struct stat_run {
	struct counter_plan plan;
	struct target target;
	struct stat_config config;
	bool share_all;		     /* --bpf-counters */
	const char *share_events;    /* stat.bpf-counter-events, shared if permitted; NULL: none */
	int delay_ms;		     /* -D; -1: disabled until --control says otherwise */
	unsigned int timeout_ms;     /* --timeout; 0: none */
	unsigned int interval_count; /* 0: no limit */
	struct control *control;     /* NULL: none */
	struct stat_sink *sinks;     /* get the counts; NULL: none */
	struct refusal_sink *refusals; /* gets what the kernel refuses; NULL: none */
	bool stdout_has_data;	       /* a sink writes there: the workload writes to stderr */
	const volatile sig_atomic_t *signal; /* the signal that asks perf to end; 0: none yet */

	/* Set by stat_run__once(). */
	struct stat_pass *pass; /* the last one, until the next begins; NULL: none */
	struct counter *parked; /* a back end, for the next pass; NULL: none */
	bool is_opened;		/* messages about events that cannot be opened have been written */
	bool has_begun;		/* a pass has begun to count, or has ended by itself */
	bool was_too_early;	/* a signal ended the last pass before it began to count */
	bool has_counted;	/* up to the end, without an error of perf's own */
	bool was_killed;	/* a signal ended the workload */
	bool has_exited;	/* the workload exited by itself after a signal */
};

#endif

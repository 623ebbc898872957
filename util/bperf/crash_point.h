/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_CRASH_POINT_H
#define PERF_BPERF_CRASH_POINT_H

/*
 * Points between two changes for tests to end or stop a session, and limits that tests change. Only the
 * perf of the tests, $(O)/tests/perf, has them (-DCRASH_POINTS): here the environment has no effect.
 */

#include <linux/types.h>

/* Variables of the environment, each with a number. */
enum crash_setting {
	CRASH_MAX_SESSIONS, /* PERF_TEST_MAX_SESSIONS: that can be registered */
	CRASH_MAX_SETS, /* PERF_TEST_MAX_SETS: of events; twice those that sessions have when they join */
	CRASH_MAX_TASKS,      /* PERF_TEST_MAX_TASKS: entries of the map of tasks */
	CRASH_MAX_CGROUP_IDS, /* PERF_TEST_MAX_CGROUP_IDS: cgroups that on_mkdir can file */
	CRASH_READY_BYTES,    /* PERF_TEST_READY_BYTES: of sums for new cgroups */
	CRASH_MAX_VALUES,     /* PERF_TEST_MAX_VALUES: of cgroups that are kept by CPU */
	CRASH_SERVE_MS,	      /* PERF_TEST_SERVE_MS: see foreign_followers.h */
	CRASH_LOCK_MS,	      /* PERF_TEST_LOCK_MS: how long a session waits for locks */
	CRASH_OPENING_MS,     /* PERF_TEST_OPENING_MS: see leader_events.c */
};

/**
 * crash_point__reach() - end or stop this process here if a test asks for it
 * @name: of the last change, which has one place in the sources; tests/data/steps has all
 *
 * PERF_TEST_KILL_AT=NAME ends the process, as SIGKILL would, but not before PERF_TEST_KILL_AFTER=NAME was
 * reached, if that is set. PERF_TEST_STOP_AT=NAME stops it, by the
 * signal PERF_TEST_STOP_BY if that is set. A number N in place of a name is the N-th point reached.
 */
void crash_point__reach(const char *name);

/** crash_point__setting() - return the number that a test gives, or @otherwise */
__u64 crash_point__setting(enum crash_setting setting, __u64 otherwise);

#endif

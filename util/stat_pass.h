/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_STAT_PASS_H
#define PERF_UTIL_STAT_PASS_H

/*
 * One pass of a run, shared by the files that carry it out: stat_run.c (its life), stat_pass.c (the
 * back ends), stat_tasks.c, stat_cgroups.c, stat_loop.c (waiting), stat_control.c (--control). Nobody
 * else includes this.
 */

#include "stat_run.h"
#include "workload.h"

struct pollfd;

enum { PLAIN, BPERF, TOOL, NR_COUNTERS };

struct stat_pass {
	struct stat_run *run;
	struct counter *counters[NR_COUNTERS];	/* NULL: not in use */
	struct workload workload;
	struct pollfd *waits;		/* tasks; -1: ended, or to be looked for */
	int nr_waits;
	uint64_t start_ns;
	uint64_t next_print_ns, enable_at_ns, end_at_ns;	/* 0: never */
	unsigned int nr_printed;
	bool is_enabled;
	bool stays_disabled;		/* --control said so before the end of the delay */
	bool is_over;
};

/* --- stat_pass.c: functions return 0 or -errno, messages have been written --- */

/** stat_pass__assign_counters() - give the events from @first on, not opened yet, to back ends */
int stat_pass__assign_counters(struct stat_pass *pass, int first);

/** stat_pass__open() - assign all events and open them */
int stat_pass__open(struct stat_pass *pass);

/** stat_pass__lower_privileges() - counting needs none; what opening again takes is kept */
void stat_pass__lower_privileges(const struct stat_pass *pass);

/** stat_pass__check_opened() - say what is not counted. Return: 0, or an exit status: nothing is */
int stat_pass__check_opened(const struct stat_pass *pass);

/** stat_pass__start_clock() - from now on run the elapsed time, the intervals and the timeout */
void stat_pass__start_clock(struct stat_pass *pass);

/** stat_pass__enable(), stat_pass__disable() - a window of all back ends begins, ends; they nest */
int stat_pass__enable(struct stat_pass *pass);
int stat_pass__disable(struct stat_pass *pass);

/** stat_pass__read() - bring the counts of all events up to date */
int stat_pass__read(struct stat_pass *pass);

/** stat_pass__call() - do that in all back ends that can, one after the other */
int stat_pass__call(struct stat_pass *pass,
		    int (*op_of(const struct counter_ops *ops))(struct counter *));

/** stat_pass__calls_fd() - readable when back end @c wants to be called; -1: never */
int stat_pass__calls_fd(const struct stat_pass *pass, int c);

/** stat_pass__close() - release all back ends and their events; @keep: what the next pass can use, too */
void stat_pass__close(struct stat_pass *pass, bool keep);

/* --- stat_tasks.c --- */

/** stat_pass__find_threads() - the plan's threads. Return: 0, or an exit status after a message */
int stat_pass__find_threads(struct stat_pass *pass);

/** stat_pass__watch_tasks() - get ready to wait for the end of the target. Return: 0 or -ENOMEM */
int stat_pass__watch_tasks(struct stat_pass *pass);

/** stat_pass__is_target_gone() - whether everything that was to be counted has ended */
bool stat_pass__is_target_gone(struct stat_pass *pass);

/** stat_pass__task_fd() - readable when a task of the target, not gone yet, ends; -1: none is */
int stat_pass__task_fd(const struct stat_pass *pass);

/** stat_pass__needs_polling() - whether only looking for tasks tells that the target is gone */
bool stat_pass__needs_polling(const struct stat_pass *pass);

/** stat_pass__status() - the workload's exit status, 0 without one; sets run->was_killed */
int stat_pass__status(struct stat_pass *pass);

/** stat_pass__release_tasks() - release threads, workload, and what is waited on */
void stat_pass__release_tasks(struct stat_pass *pass);

/* --- stat_cgroups.c --- */

/** stat_pass__add_cgroups() - those that came get events, in an old place or at the end */
int stat_pass__add_cgroups(struct stat_pass *pass);

/** stat_pass__drop_cgroups() - those that are gone have been printed for the last time */
int stat_pass__drop_cgroups(struct stat_pass *pass);

/* --- stat_loop.c --- */

/**
 * stat_pass__loop() - count until everything ended, the time is over or a signal came
 *
 * Prints intervals and obeys --control on the way. Return: 0 or -errno.
 */
int stat_pass__loop(struct stat_pass *pass);

/** stat_pass__print_interval() - read, and print what came since the last time */
int stat_pass__print_interval(struct stat_pass *pass);

/* --- stat_control.c --- */

/** stat_pass__set_enabled() - let everything count or not, and say so */
int stat_pass__set_enabled(struct stat_pass *pass, bool is_enabled);

/** stat_pass__end_delay() - what -D MS has put off begins, unless --control was against it */
int stat_pass__end_delay(struct stat_pass *pass);

/** stat_pass__obey() - carry out the commands of --control that have come */
int stat_pass__obey(struct stat_pass *pass);

#endif

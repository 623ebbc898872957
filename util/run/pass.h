/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_RUN_PASS_H
#define PERF_RUN_PASS_H

/* One pass of a run, and all its back ends at once. */

#include "util/run/stat_run.h"
#include "util/target/workload.h"

struct pollfd;

enum back_end { BACK_END_PLAIN, BACK_END_BPERF, BACK_END_TOOL, NR_BACK_ENDS };

/* Only the files of run/ that carry out a pass include this. */
struct stat_pass {
	struct stat_run *run;
	struct counter *counters[NR_BACK_ENDS]; /* NULL: not in use */
	struct workload workload;
	struct pollfd *waits; /* tasks; -1: ended, or polled */
	int nr_waits;
	uint64_t start_ns;
	uint64_t next_print_ns, enable_at_ns, end_at_ns, look_at_ns; /* 0: never */
	uint64_t looked_ns;    /* when new cgroups were looked for last */
	uint64_t next_look_ns; /* when to look for new BPF programs; 0: never */
	unsigned int nr_printed;
	bool is_enabled;
	bool has_begun;	     /* any event has been enabled */
	bool stays_disabled; /* --control: "disable" came before the end of the delay */
	bool is_over;
	bool is_private; /* a lock could not be had: nothing is shared */
	bool has_warned; /* that looking for BPF programs failed */
};

/* Functions return 0 or -errno, after a message. */

/** stat_pass__assign_counters() - give the unopened events from position @first on to back ends */
int stat_pass__assign_counters(struct stat_pass *pass, int first);

/**
 * stat_pass__reserve_to_share() - raise the limit of open files to as many as sharing needs, if that is permitted
 *
 * Call it before anything shared is opened: libbpf takes EMFILE for a feature that the kernel lacks.
 */
int stat_pass__reserve_to_share(void);

/** stat_pass__open() - assign all events and open them */
int stat_pass__open(struct stat_pass *pass);

/** stat_pass__lower_privileges() - drop privileges, but keep those needed to open again */
void stat_pass__lower_privileges(const struct stat_pass *pass);

/** stat_pass__check_opened() - report what is not counted. Return: -ENODEV if nothing is */
int stat_pass__check_opened(const struct stat_pass *pass);

/** stat_pass__start_clock() - start the elapsed time, the intervals and the timeout */
void stat_pass__start_clock(struct stat_pass *pass);

/** stat_pass__note_begin() - the pass begins to count, and its counts are due */
void stat_pass__note_begin(struct stat_pass *pass);

/** stat_pass__enable(), stat_pass__disable() - begin, end a window of all back ends; they nest */
int stat_pass__enable(struct stat_pass *pass);
int stat_pass__disable(struct stat_pass *pass);

/** stat_pass__read() - bring the counts of all events up to date */
int stat_pass__read(struct stat_pass *pass);

/** stat_pass__call() - call an operation of each back end that has it, one after the other */
int stat_pass__call(struct stat_pass *pass,
		    int (*op_of(const struct counter_ops *ops))(struct counter *));

/** stat_pass__wakeup_fd() - readable when the back end wants to be called; -1: never */
int stat_pass__wakeup_fd(const struct stat_pass *pass, enum back_end back_end);

/** stat_pass__close() - release all back ends and their events; @keep: park what the next pass can use */
void stat_pass__close(struct stat_pass *pass, bool keep);

#endif

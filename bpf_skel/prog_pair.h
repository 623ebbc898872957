/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_PROG_PAIR_H
#define PERF_BPF_PROG_PAIR_H

/*
 * What the pair of probes at a BPF program and user space share. Runs of different builds meet
 * here, too: any change of a struct or of its meaning raises LEADER_LAYOUT.
 */

#include "leader.h"

/*
 * Events that are counted in one program, for all runs together. A column costs 24 bytes in each
 * frame and 80 per CPU.
 */
#define MAX_COLUMNS 32
/* Events that are read without a call for each. The verifier walks every one. */
#define QUICK_COLUMNS 8

/* Where there is no event: reading it fails at once, and takes no test. */
#define NO_EVENT 0x80000000U

/*
 * Executions that are under way on a CPU besides the last that began there: entered before it by
 * tasks that were preempted, or interrupted.
 */
#define MAX_FRAMES(nr_cpus) (256 + 8 * (nr_cpus))

/* What is read. Written by user space under the lock. */
struct prog_column {
	__u32 first;		/* index of its event of CPU 0 in the leader's `events`; or NO_EVENT */
	__u32 slot;		/* of the shared event */
};

struct prog_plan {
	__u32 nr;		/* columns in use are below this */
	__u32 nr_quick;		/* those below this are read from `events` at once; others may be foreign */
	struct prog_column column[MAX_COLUMNS];
};

/* One execution: what the events showed when it began. Written by on_enter. */
struct prog_frame {
	__u64 key;		/* address of its trampoline's context; 0: none */
	__u64 task;
	__u64 switches;		/* of the task, of either kind */
	__u32 cpu;		/* set when it moves to prog_frames */
	__u32 nr;		/* columns read */
	__u32 first[MAX_COLUMNS];	/* of each column then */
	struct sum event[MAX_COLUMNS];	/* enabled_ns 0: could not be read */
};

/* What the executions on one CPU counted. Written by the programs on that CPU, only ever grows. */
struct prog_cpu {
	__u64 seq;		/* odd while on_leave writes */
	__u64 runs;		/* executions that ended */
	__u64 switched;		/* of these: the task was switched out meanwhile, see `apart` */
	__u64 unmeasured;	/* of these: not known how they began */
	__u64 unread[MAX_COLUMNS];	/* of the others: this event could not be read */
	struct sum sum[MAX_COLUMNS];	/* executions in one piece */
	struct sum apart[MAX_COLUMNS];	/* others: with what other tasks did meanwhile */
	/* The programs' own: */
	__u64 is_leaving;	/* on_leave is at work: it will not see who enters now leave */
	__u64 key;		/* scratch of on_leave */
	struct sum now[MAX_COLUMNS];	/* scratch of on_leave */
	struct prog_frame frame;	/* of the execution that began last; others are in prog_frames */
	__u64 pad[70];		/* to a power of two: found with fewer instructions */
};

#ifndef __bpf__
static_assert(sizeof(struct prog_frame) == 32 + MAX_COLUMNS * 28, "shared layout");
static_assert(sizeof(struct prog_cpu) == 4096, "shared layout");
#endif

#endif

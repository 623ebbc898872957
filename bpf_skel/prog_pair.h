/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_PROG_PAIR_H
#define PERF_BPF_PROG_PAIR_H

/*
 * Structs and limits shared by the probes at BPF programs and user space. Sessions of different
 * builds also meet here: any change of a struct or of its meaning raises LEADER_LAYOUT.
 */
#include "leader.h"

/*
 * Events that all sessions together count in one program. A column costs 24 bytes in each frame
 * and 80 per CPU.
 */
#define MAX_COLUMNS 32
/* Events that the probes read without a call for each. The verifier walks every one. */
#define QUICK_COLUMNS 8

/* Index of a column without an event: a read of it fails at once, and needs no test. */
#define NO_EVENT 0x80000000U

/*
 * Executions that are under way besides the last to begin on each CPU: their tasks were preempted
 * or interrupted.
 */
#define MAX_FRAMES(nr_cpus) (256 + 8 * (nr_cpus))

/* One event to read. User space writes it under the attr map's lock. */
struct prog_column {
	__u32 first; /* index of its event of CPU 0 in the leader's `events`; or NO_EVENT */
	__u32 slot;  /* slot of the shared event */
};

struct prog_columns {
	__u32 nr;	/* columns in use are below this */
	__u32 nr_quick; /* columns below this are in `events`; others may be foreign */
	struct prog_column column[MAX_COLUMNS];
};

/* One execution: the readings at its start. on_enter writes it. */
struct prog_frame {
	__u64 key; /* address of its trampoline's context; 0: none */
	__u64 task;
	__u64 switches;		       /* of the task, voluntary or not */
	__u32 cpu;		       /* set when it moves to prog_frames */
	__u32 nr;		       /* columns read */
	__u32 first[MAX_COLUMNS];      /* prog_column.first at that time */
	struct sum event[MAX_COLUMNS]; /* enabled_ns 0: the read failed */
};

/* Counts of the executions on one CPU. The programs on that CPU write them; they only grow. */
struct prog_cpu {
	__u64 seq;	  /* odd while on_leave writes */
	__u64 runs;	  /* executions that ended */
	__u64 preempted;  /* of these, those whose task was switched out: see `preempted_sum` */
	__u64 unmeasured; /* of these, those without readings from their start */
	__u64 unread[MAX_COLUMNS]; /* of the others, those in which this event could not be read */
	struct sum sum[MAX_COLUMNS]; /* executions in one piece */
	/* others, including the activity of other tasks meanwhile */
	struct sum preempted_sum[MAX_COLUMNS];
	/* For the programs only: */
	__u64 is_leaving; /* on_leave is at work, and will miss executions that enter now */
	__u64 key;	  /* scratch of on_leave */
	struct sum now[MAX_COLUMNS]; /* scratch of on_leave */
	struct prog_frame frame;     /* of the last execution to begin; others are in prog_frames */
	__u64 pad[70];		     /* to a power of two, which saves instructions in lookups */
};

#ifndef __bpf__
static_assert(sizeof(struct prog_frame) == 32 + MAX_COLUMNS * 28, "shared layout");
static_assert(sizeof(struct prog_cpu) == 4096, "shared layout");
#endif

#endif

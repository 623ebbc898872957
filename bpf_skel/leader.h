/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_H
#define PERF_BPF_LEADER_H

/*
 * What the leader's BPF programs and user space share. Runs of different builds meet here: any
 * change of a struct or of its meaning raises LEADER_LAYOUT.
 */

#ifndef __bpf__
#include <assert.h>
#include <linux/types.h>
#include <stddef.h>
#endif

#define LEADER_LAYOUT 7

/*
 * Slots for shared events. A CPU has 4 to 8 hardware counters; the rest is software events,
 * tracepoints and uncore boxes. A slot costs 8 bytes per possible CPU in `events` and 32 in
 * `readings`; 256 are four words of the mask that a sync is given.
 */
#define MAX_EVENTS 256
#define MASK_WORDS (MAX_EVENTS / 64)

/* Runs at a time. Each costs one bit per event slot. */
#define MAX_RUNS 1024
#define NO_RUN MAX_RUNS	/* has the scopes that runs gave up, or could not remove */

/*
 * The key of the frozen table and of events in the registry: struct perf_event_attr as of Linux
 * 7.x; shorter ones are extended with zeros.
 */
#define ATTR_KEY_SIZE 144

/*
 * Scopes: what one row of one run counts; a thread of --per-thread, a cgroup with all below it, or
 * everything else together. Classes: sets of scopes that some task or cgroup belongs to; class 0 is
 * the empty one. Both are tables of small entries, so the limits only bound the memory of the
 * tables; machines with 10,000 containers are known.
 */
#define MAX_SCOPES 16384
#define MAX_CLASSES 32768
/* One marking has at most two per class; those of earlier ones are left until it is half full. */
#define MAX_TRANSITIONS (2 * MAX_CLASSES)

/*
 * Of classes, sets and cells those who join can have half. A run that ends needs the rest: for each
 * class with a scope of it there has to be one without, before the first can be given up.
 */
#define FOR_JOINING(max) ((max) / 2)

/* Cgroups that some run counts by themselves. */
#define MAX_CGROUPS 16384

/*
 * Classes kept ready for cgroups that are made while somebody counts by pattern. When half of them
 * are taken, runs are called to look, and need some 100 ms when several look one after the other;
 * what comes faster than that is counted and reported.
 */
#define MAX_NEWBORNS 1024
#define CGROUP_NAME 256

/*
 * Cgroups whose class a CPU remembers, in pairs of places by their numbers; others are
 * looked up at each switch to them. 16 KB per CPU.
 */
#define SEEN_BITS 10

/* Sets of events that classes count. Classes of runs with the same events have the same set. */
#define MAX_SETS 1024
#define SET_EVENTS 64

/*
 * Sums are cells, one per event of a class, on each CPU. They come in chunks of equal size (144 KB
 * per CPU each), the first with the leader, others when classes need them.
 */
#define CHUNK_CELLS 2048
#define MAX_CHUNKS 256
#define MAX_CELLS (CHUNK_CELLS * MAX_CHUNKS)

/*
 * Tasks that are counted and found no bucket to themselves; each costs some 100 bytes while it is,
 * and 16 bytes in any case.
 */
#define MAX_TASKS (1 << 17)

/* Buckets before the table of tasks; each holds one task itself. 384 KB. */
#define BUCKET_BITS 14

/* BPF programs that are counted at a time. Each costs 152 bytes here, and its pair some 300 KB. */
#define MAX_PAIRS 256

struct attr_key {
	__u8 bytes[ATTR_KEY_SIZE];
};

/* One reading of one event on one CPU. Written by on_sync, read by user space. */
struct event_reading {
	__u64 counter;		/* counter units */
	__u64 enabled_ns;
	__u64 running_ns;
	__u32 err;		/* errno of the read; the numbers are then of an older reading */
	__u32 gen;		/* event_base.gen when it was read */
};

/*
 * What a slot's readings on one CPU start from, so that they only ever grow, whichever perf events
 * are in the slot one after the other: those of a CPU that goes offline are dead for good, and it
 * gets others when it returns. Written by user space under the lock.
 */
struct event_base {
	__u64 counter;		/* the last reading before this perf event */
	__u64 enabled_ns;	/* and the time without any, which is enabled and not running */
	__u64 running_ns;
	__u32 gen;		/* raised before another perf event is put here; never 0 then */
	__u32 epoch;		/* cpu_state.epoch of that, plus 1; another one: to be done again */
	__u32 flags;		/* EVENT_* */
	__u32 foreign_idx;	/* EVENT_FOREIGN: index in the slot's array of `foreign` */
};

#define EVENT_FOREIGN	1	/* opened by another leader, and read from its array */
#define EVENT_SWITCHES	2	/* counts context switches, in kernel mode */

/* The readings of one CPU, for runs that count whole CPUs. */
struct cpu_readings {
	__u64 seq;		/* odd while on_sync writes */
	struct event_reading event[MAX_EVENTS];
};

/* A CPU runs two classes at a time: that of its task, and that of the task's cgroup. */
enum class_kind { OF_TASK, OF_CGROUP, NR_CLASS_KINDS };

/* The class of a cgroup, as looked up in an epoch. */
struct seen_cgroup {
	__u64 id;
	__u32 epoch;
	__u32 class;
};

/* What a CPU is doing. Written by the programs on that CPU. */
struct cpu_state {
	__u64 seq;		/* odd while sums or classes of this CPU change */
	__u64 busy;		/* 1 while a program changes this CPU's state: another may interrupt it */
	/* What is running; its time since `snapshot` is not yet charged */
	__u32 class[NR_CLASS_KINDS];
	__u64 cgroup;		/* whose class that is: number of the running task's cgroup */
	__u32 cgroup_epoch;	/* `cgroup_epoch` when that was looked up */
	__u32 fresh[2];		/* classes of tasks whose events were read... */
	__u32 mode;		/* MODE_*: what on_switch does; written by user space under the lock */
	__u64 fresh_task;	/* ...at the switch to this one; 0: to none */
	__u64 next;		/* scratch of on_switch */
	__u64 failed_reads;	/* of events at switches; each loses what one slice counted */
	__u64 lost;		/* switches that found the CPU busy and were not charged */
	__u64 nested;		/* syncs that found it busy and did nothing */
	__u64 up_ns;		/* CLOCK_MONOTONIC when it last came online; 0: it always was */
	__u32 epoch;		/* even; raised while it goes offline, again and again */
	__u32 is_leaving;	/* 1 from then until it comes back */
	__u64 strangers;	/* runs of on_switch that were no switch, and not served */
	__u32 nr_serve;		/* MODE_SERVE: slots that are served; written by user space */
	__u32 pad;
	__u16 serve[MAX_EVENTS];
	/* Where the running slices began; gen 0: unknown */
	struct event_reading snapshot[NR_CLASS_KINDS][MAX_EVENTS];
	struct event_base base[MAX_EVENTS];
	struct event_reading served[MAX_EVENTS];	/* as of the last run of on_switch; gen 0: unknown */
	struct seen_cgroup seen[1 << SEEN_BITS];
};

/* cpu_state.mode */
#define MODE_TASKS	1	/* tasks are followed: their classes mean something */
#define MODE_SERVE	2	/* followers of other implementations read what each switch counted */
#define MODE_FOREIGN	4	/* some events are other leaders' */

/* A cgroup with a class of its own, at the position that `cgroup_ids` has for its number. */
struct reg_cgroup {
	__u64 id;		/* the kernel's; 0: free. Written before it is in `cgroup_ids` */
	__u32 class;		/* all scopes of it and of the cgroups above it; stored in place */
	__u32 pad;
};

/* Of cgroups. In .bss of the programs. */
struct cgroup_clock {
	__u32 epoch;		/* raised by user space when cgroups change classes; never 0 then */
	__u32 pad;
	__u64 births;		/* newborns so far; the next is in newborns[births % MAX_NEWBORNS] */
	__u64 missed;		/* cgroups that no class was ready for */
};

enum newborn_state {
	NEWBORN_NONE,
	NEWBORN_OFFERED,	/* ready, by user space under the lock */
	NEWBORN_TAKEN,		/* by a program; until all who count by pattern have looked at it */
};

/*
 * A cgroup that was made while somebody counted by pattern. It has a class of its own from its first
 * switch, without scopes, so that nobody need know its name yet; the class that it would have had
 * is that one's base. Who counts it then adds the scope to the base, and what was counted so far is
 * that scope's, too.
 */
struct newborn {
	__u32 state;		/* enum newborn_state */
	__u32 class;
	__u32 pos;		/* in `cgroups`: reserved */
	__u32 pad;
	__u64 id;
	__u64 parent;		/* number of the cgroup above */
	char name[CGROUP_NAME];
};

#define CGROUP_RESERVED (~0ULL)	/* reg_cgroup.id of a place for a newborn */

/* What one event counted in one class on one CPU. Written by the programs on that CPU. */
struct sum {
	__u64 counter;
	__u64 enabled_ns;
	__u64 running_ns;
};

/*
 * A chunk of cells on one CPU. A class given up leaves its sums to a smaller one, in that one's
 * carry cells: written by user space under the lock, in the copy that is not in use, then switched.
 */
struct sum_block {
	struct sum cell[CHUNK_CELLS];
	struct sum carry[2][CHUNK_CELLS];
};

/* A set of scopes. Written by user space under the lock; the kernel reads child, set and cell. */
struct reg_class {
	__u32 state;		/* enum reg_state */
	__u32 base;		/* this class without `scope`; together they identify it */
	__u32 scope;		/* its highest scope */
	__u32 child;		/* class of the children of its tasks: its scopes that inherit */
	__u32 set;		/* events that are counted in it */
	__u32 cell;		/* its first cell; one per event of the set, all in one chunk */
	__u32 carry;		/* 0 or 1: which copy of its carry cells holds */
	__u32 pad;
	__u64 members;		/* tasks in it now, or after their exec, not ended; by the kernel */
};

/* In use while a class or scope names it. Written by user space under the lock, then constant. */
struct reg_set {
	__u32 nr;
	__u32 has_switches;		/* one of the events counts context switches */
	__u64 mask[MASK_WORDS];
	__u16 slot[SET_EVENTS];		/* ascending */
	__u8 is_switches[SET_EVENTS];	/* enum switch_event */
};

/* Events that the kernel counts after the tracepoint at a switch, in kernel mode. */
enum switch_event { NO_SWITCHES, ALL_SWITCHES, CGROUP_SWITCHES };

/* The value of `tasks`: changed by compare-and-exchange only. */
#define TASK_CLASS(entry) ((__u32)(entry) & 0x7fffffffU)
#define TASK_ENDED (1ULL << 31)	/* alone: an ended task is in no class any more */
#define TASK_AFTER_EXEC(entry) ((__u32)((entry) >> 32))
#define TASK_ENTRY(now, after_exec) ((__u64)(after_exec) << 32 | (now))

/* Counted tasks whose address hashes to one number. */
struct task_bucket {
	__u64 task;		/* address of the one that is here; 0: none, 1: being entered */
	__u64 entry;		/* of that one */
	__u32 nr;		/* all of them; those that are not here are in `tasks` */
	__u32 pad;
};

/*
 * What on_mark looks for: every task that its walk comes by, because the walk is of one process or
 * thread only; or in a walk over all tasks those of a process, a thread, or really all.
 */
enum mark_kind { MARK_WALKED, MARK_PROCESS, MARK_THREAD, MARK_ALL };
enum mark_when { MARK_NOW, MARK_AT_EXEC };

/* A request to on_mark and its answer; one at a time, under the lock. */
struct mark_request {
	__u32 kind;		/* enum mark_kind */
	__u32 when;		/* enum mark_when: which half of the entries changes */
	__u32 nr;		/* number of the process or thread, in the initial pid namespace */
	__u32 op;		/* key of `transitions`: each marking has its own */
	__u32 nr_transitions;	/* written to `transitions` since it was emptied */
	__u32 unborn;		/* tasks that are what is looked for, and are not woken yet */
	__u32 process_nr;	/* of the task seen last, in the initial pid namespace */
	__u32 nr_threads;	/* of that process, as the kernel counts them */
	__u64 seen;		/* tasks that are what is looked for */
	__u64 changed;		/* entries that were changed */
	__u64 unknown;		/* entries without a transition: their classes are in `wanted` */
	__u64 failed;		/* entries that could not be made */
	__u64 task;		/* scratch of on_mark */
};

/* Key of `transitions`. */
struct transition {
	__u32 op;
	__u32 from;
};

/* Of all programs. */
struct leader_counts {
	__u64 failed_inserts;	/* tasks that could not be entered: uncounted */
};

enum reg_state {
	REG_FREE,
	REG_CHANGING,		/* being opened or closed; with the lock free: left by a crash */
	REG_READY,
};

#ifndef __bpf__
static_assert(sizeof(struct event_reading) == 32, "shared layout");
static_assert(sizeof(struct event_base) == 40, "shared layout");
static_assert(sizeof(struct cpu_state) ==
		      120 + MAX_EVENTS * 138 + sizeof(struct seen_cgroup) * (1 << SEEN_BITS),
	      "shared layout");
#endif

#endif

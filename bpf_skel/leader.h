/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_H
#define PERF_BPF_LEADER_H

/*
 * Structs and limits shared by the leader's BPF programs and user space. Sessions of different
 * builds meet here: any change of a struct or of its meaning raises LEADER_LAYOUT.
 */

#ifndef __bpf__
#include <assert.h>
#include <linux/types.h>
#include <stddef.h>
#endif

#define LEADER_LAYOUT 30

/*
 * Slots for shared events. A CPU has 4 to 8 hardware counters; the rest is software events,
 * tracepoints and uncore boxes. A slot costs 8 bytes per CPU in `events` and 32 in
 * `readings`. For a sync, 256 slots are a mask of four words.
 */
#define MAX_EVENTS 256
#define MASK_WORDS (MAX_EVENTS / 64)

/* Sessions at a time. Each costs one bit per event slot. */
#define MAX_SESSIONS 1024
#define NO_SESSION   MAX_SESSIONS /* owner of scopes that a session could not remove */

/*
 * Size of the frozen table's keys, and of the keys of events in the registry: struct
 * perf_event_attr as of Linux 7.x. Shorter ones are extended with zeros.
 */
#define ATTR_KEY_SIZE 144

/*
 * A scope is the subject of one row of one session: a thread of --per-thread, a cgroup with all
 * below it, or everything else together. A scope set holds the scopes that some task or cgroup
 * belongs to; scope set 0 is empty. The entries of both tables are small, so the limits only bound
 * the memory of the tables. Machines with 10,000 containers exist.
 */
#define MAX_SCOPES     16384
#define MAX_SCOPE_SETS 32768

/*
 * Joining sessions may use half of the scope sets, sets and cells. Leaving ones need the rest:
 * each scope set with a scope of theirs needs one without it, before the first can be given up.
 */
#define FOR_JOINING(max) ((max) / 2)

/* Cgroups that have a scope of their own in some session. */
#define MAX_CGROUPS 16384

/*
 * The cgroup pool: scope sets kept ready for new cgroups while a session counts by pattern. A new
 * cgroup wakes these sessions, and each of them looks at most every 50 ms. If cgroups appear
 * faster than that, the programs count the missed ones, and the sessions report them.
 */
#define MAX_POOL_ENTRIES 1024
#define CGROUP_NAME	 256

/*
 * Cgroups whose scope set a CPU remembers, in pairs of places by their numbers. Others are looked
 * up at each switch to them. 16 KB per CPU.
 */
#define SEEN_BITS 10

/* Sets of events that scope sets count. Scope sets with the same events have the same set. */
#define MAX_SETS   1024
#define SET_EVENTS 64

/*
 * A cell has the sum of one event of a scope set on one CPU. Cells come in chunks of equal size
 * (3 KB per CPU each), when scope sets need them. The kernel makes a new one wait for a grace period. So they
 * are added in steps: one, one, two, and then four at a time, or as many as are expected. Cells that
 * scope sets were merged into have carry cells (3 KB per CPU for 64 cells), for which nothing waits.
 */
#define CHUNK_CELLS 128
#define MAX_CHUNKS  4096
#define CHUNK_STEP  4
#define CARRY_CELLS 64
#define MAX_CARRIES (MAX_CELLS / CARRY_CELLS)
#define MAX_CELLS   (CHUNK_CELLS * MAX_CHUNKS)

/*
 * Counted tasks without a bucket to themselves; half as many if the machine has few tasks when the table is
 * made. It has 16 bytes for each, used or not; a counted task costs some 100 bytes more.
 */
#define MAX_TASKS (1 << 17)

/* Buckets in front of the table of tasks. Each holds one task itself; all take 512 KB. */
#define BUCKET_BITS 14

/* BPF programs counted at a time. Each costs 152 bytes here, and its pair some 300 KB. */
#define MAX_PAIRS 256

struct attr_key {
	__u8 bytes[ATTR_KEY_SIZE];
};

/* One reading of one event on one CPU. Programs write it, user space reads it. */
struct event_reading {
	__u64 counter; /* counter units */
	__u64 enabled_ns;
	__u64 running_ns;
	union {
		__u32 err;    /* errno of the read; the numbers are then those of an older one */
		__u32 failed; /* in a snapshot: failed reads; each loses one slice's counts */
	};
	__u32 gen; /* event_base.gen at the read */
};

/*
 * Where a slot's readings on one CPU start, so that they only grow when another perf event takes
 * the slot. Perf events of a CPU that goes offline are dead for good, and the CPU gets others when
 * it returns. User space writes this under the attr map's lock, or for slots that the session has
 * claimed.
 */
struct event_base {
	__u64 counter;	  /* last reading before this perf event */
	__u64 enabled_ns; /* plus the time without one: enabled, but not running */
	__u64 running_ns;
	__u32 gen;	   /* incremented before another perf event comes here; never 0 then */
	__u32 epoch;	   /* cpu_state.epoch plus 1, or EPOCH_*; differs: must be reopened */
	__u32 flags;	   /* EVENT_* */
	__u32 foreign_idx; /* EVENT_FOREIGN: index in the slot's array of `foreign` */
};

#define EPOCH_NEVER    0 /* the slot has had no event on this CPU */
#define EPOCH_REPLACED 2 /* its last event is gone, and another one is on its way */

#define EVENT_FOREIGN  1 /* another leader opened it: read its array */
#define EVENT_SWITCHES 2 /* counts context switches, in kernel mode */
#define EVENT_ABSENT   4 /* this CPU lacks its PMU: failed reads are no errors */

/* The readings of one CPU, for sessions that count whole CPUs. */
struct cpu_readings {
	__u64 seq; /* odd while a program writes */
	struct event_reading event[MAX_EVENTS];
};

/* A CPU runs two scope sets at a time: its task's, and that of the task's cgroup. */
enum scope_set_kind { SCOPE_SET_TASK, SCOPE_SET_CGROUP, NR_SCOPE_SET_KINDS };

/* The scope set that a cgroup had in an epoch. */
struct seen_cgroup {
	__u64 id;
	__u32 epoch;
	__u32 scope_set;
};

/* The state of a CPU. The programs on that CPU write it, but for `walk_round`. */
struct cpu_state {
	__u64 seq;  /* odd while sums or scope sets of this CPU change */
	__u64 busy; /* 1 while a program changes this CPU's state: another one may interrupt it */
	/* The running ones; their time since `snapshot` is not charged yet */
	__u32 scope_set[NR_SCOPE_SET_KINDS];
	__u64 cgroup; /* number of the running task's cgroup, for scope_set[SCOPE_SET_CGROUP] */
	/* A switch writes these two first, so that samples within it know whether it has charged the slice yet: */
	__u64 charged_task; /* to whom it changed scope_set[SCOPE_SET_TASK], which is fresh[1] afterwards */
	__u32 charged_cgroup_set; /* what scope_set[SCOPE_SET_CGROUP] is when `cgroup` runs */
	__u32 cgroup_epoch;	  /* cgroup_clock.epoch of that lookup */
	__u32 fresh[2];		  /* scope sets of the tasks whose events were read... */
	__u32 mode;		  /* MODE_*; changed by atomic operations */
	__u64 fresh_task;	  /* ...at the switch to this task; 0: none */
	__u64 next;		  /* scratch of on_cgroup_switch */
	__u64 lost;		  /* switches not charged, as the CPU was busy */
	__u64 nested;		  /* syncs that did nothing, as another one was under way */
	__u64 up_ns;  /* CLOCK_MONOTONIC when it last came online; 0: it always was, or is coming */
	__u64 gap_ns; /* time online with dead events, until these were opened or it went again */
	__u32 epoch;  /* even; each step of going offline adds 2 */
	__u32 is_leaving;	  /* 1 from its first step offline until it comes back */
	__u64 foreign_executions; /* test runs of on_switch by foreign followers, while not served */
	__u64 serve_until_ns; /* CLOCK_MONOTONIC of the end of MODE_SERVE; 0: a session maintains it */
	__u32 nr_serve;	      /* MODE_SERVE: slots served; user space writes it */
	__u32 walk_round; /* walk_request.round in which on_walk last saw a requested task run here */
	__u16 serve[MAX_EVENTS];
	/* event_base.gen of the readings in `diffs`, as of on_switch's last execution; 0: unknown */
	__u32 served_gen[MAX_EVENTS];
	struct event_base base[MAX_EVENTS];
};

/* Readings of a CPU's events at the start of the running slice of its task; gen 0: unknown. */
struct task_slice {
	struct event_reading snapshot[MAX_EVENTS];
};

/* The same for the slice of its task's cgroup, and the scope sets that the CPU looked up. */
struct cgroup_slice {
	struct event_reading snapshot[MAX_EVENTS];
	struct seen_cgroup seen[1 << SEEN_BITS];
};

/* A slot's map in `diffs` has two entries per CPU. */
enum diff_entry {
	DIFF_COUNTS,  /* what on_switch's last execution added: followers of all layouts read it */
	DIFF_READING, /* the reading of that execution, for the next one */
	NR_DIFF_ENTRIES
};

/* cpu_state.mode */
#define MODE_SERVE   1 /* foreign followers read each switch's counts */
#define MODE_CAREFUL 2 /* switches ask about each event before they read it, for these reasons: */
#define MODE_DEAD    4 /* events may be dead, as the CPU went; on_hotplug sets it */
#define MODE_FOREIGN 8 /* some events belong to other leaders */

/* A cgroup with its own scope set. `cgroup_ids` has the position for the cgroup's number. */
struct reg_cgroup {
	__u64 id;	 /* the kernel's number; 0: free. Written before `cgroup_ids` has it */
	__u32 scope_set; /* its scopes and those of all cgroups above; stored in place */
	__u32 pad;
};

/*
 * State of cgroups, in .bss of the programs. Sessions use `above`, `growth`, `nr_filled` and `window` under
 * the lock of tasks; only `window` is also read without it.
 */
struct cgroup_clock {
	__u32 epoch; /* user space increments it when cgroups change scope sets; never 0 then */
	__u32 above; /* on_above's answer: the scope set of its cgroup */
	__u64 nr_created; /* numbers given to pool entries so far; can skip half a ring at a time */
	__u64 missed;	  /* cgroups that found no scope set ready */
	__u32 is_woken;	  /* watching sessions were woken, and none has looked since */
	__u32 growth; /* how often the number of ready pool entries doubled while sessions watch */
	__u64 nr_filled; /* nr_created when sessions last made entries ready */
	__u64 window;	 /* how many pool entries were to be ready then */
};

enum pool_state {
	POOL_NONE,
	POOL_READY, /* user space filled it under the lock of tasks */
	POOL_TAKEN, /* a program took it; until all sessions that count by pattern looked */
};

/*
 * A new cgroup, while a session counts by pattern. From its first switch it has a scope set of its
 * own, without scopes, so that no session need know the name yet. The scope set that it would have
 * had becomes its parent. A session that counts the cgroup adds its scope to the parent, so
 * activity since creation is included.
 */
struct pool_entry {
	__u32 state; /* enum pool_state */
	__u32 scope_set;
	__u32 pos;	 /* the position reserved in `cgroups` */
	__u32 is_passed; /* counted for all sessions that have not looked at it */
	/*
	 * Its number plus 1: written last, and set to 0 before anything else changes. A reader
	 * whose number is the same before and after has a consistent copy; otherwise it was
	 * overtaken.
	 */
	__u64 created_nr;
	__u64 created_ns; /* CLOCK_MONOTONIC */
	__u64 id;
	__u64 parent; /* number of the cgroup above */
	char name[CGROUP_NAME];
};

#define CGROUP_RESERVED (~0ULL) /* reg_cgroup.id of a pool entry's place */

/* Counts of one event in one scope set on one CPU. The programs on that CPU write them. */
struct sum {
	__u64 counter;
	__u64 enabled_ns;
	__u64 running_ns;
};

/* A chunk of cells on one CPU. */
struct sum_block {
	struct sum cell[CHUNK_CELLS];
};

/*
 * The carry cells of CARRY_CELLS cells on one CPU. When a scope set is given up, its sums merge into the carry cells
 * of a smaller one. User space writes the unused copy of the carry cells under the lock of tasks, then
 * switches to that copy. Programs know nothing of them.
 */
struct carry_block {
	struct sum cell[2][CARRY_CELLS];
};

/*
 * A set of scopes. User space writes it under the lock of tasks; programs read child, set and cell. It is 32 bytes:
 * its place takes a shift.
 */
struct reg_scope_set {
	__u8 state;	/* enum reg_state */
	__u8 carry;	/* 0 or 1: the valid copy of its carry cells */
	__u16 pool_set; /* parent of pool entries: the set they count; 0: not computed yet */
	__u32 parent;	/* this scope set without `scope`; both together identify it */
	__u32 scope;	/* its highest scope */
	__u32 child;	/* scope set of its tasks' children: its scopes that inherit */
	__u32 set;	/* events counted in it */
	__u32 cell;	/* its first cell; one per event of the set, all in one chunk */
	__u32 members;	/* live tasks in it now, or after their exec; programs write it */
	/* Slices in which an event could not be read: nothing else may show that they were. Only a
	 * change means something; programs add to it */
	__u32 failed;
};

/* In use while a scope set or scope names it. User space writes it once, under the lock of tasks. */
struct reg_set {
	__u32 nr;
	__u32 has_switches; /* has an event that counts context switches */
	__u64 mask[MASK_WORDS];
	__u16 slot[SET_EVENTS];	      /* ascending */
	__u8 is_switches[SET_EVENTS]; /* enum switch_event */
};

/* Events that the kernel counts after the tracepoint of a switch, in kernel mode. */
enum switch_event { SWITCH_EVENT_NONE, SWITCH_EVENT_ALL, SWITCH_EVENT_CGROUP };

/* A value of `tasks`. Programs change it only by compare-and-exchange. */
#define TASK_SCOPE_SET(entry)	    ((__u32)(entry)&0x7fffffffU)
#define TASK_ENDED		    (1ULL << 31) /* stands alone: an ended task is in no scope set */
#define TASK_AFTER_EXEC(entry)	    ((__u32)((entry) >> 32))
#define TASK_ENTRY(now, after_exec) ((__u64)(after_exec) << 32 | (now))

/*
 * Counted tasks whose addresses have the same hash. 32 bytes: its place takes a shift, and it lies in one
 * cache line.
 */
struct task_bucket {
	__u64 task;  /* address of the task in here; 0: none, 1: being entered */
	__u64 entry; /* that task's */
	__u32 nr;    /* number of all; those not in here are in `tasks` */
	__u32 pad[3];
};

/*
 * The tasks that on_walk changes. WALK_WALKED: every task it meets, as the walk is restricted to
 * one process or thread. In a walk over all tasks: those of a process, a thread, or all.
 */
enum walk_kind { WALK_WALKED, WALK_PROCESS, WALK_THREAD, WALK_ALL };
enum walk_when { WALK_NOW, WALK_AT_EXEC };

/* A request to on_walk, and its answer. One at a time, under the lock of tasks. */
struct walk_request {
	__u32 kind;	  /* enum walk_kind */
	__u32 when;	  /* enum walk_when: the half of the entries that changes */
	__u32 nr;	  /* number of the process or thread, in the initial pid namespace */
	__u32 op;	  /* of the valid `transitions`: 16 bits, not 0 */
	__u32 task_new;	  /* requested tasks in TASK_NEW: not woken yet */
	__u32 process_nr; /* of the last task met, in the initial pid namespace */
	__u32 nr_threads; /* of that process, by the kernel's count */
	__u32 round;	  /* one or more walks for the same tasks */
	__u64 seen;	  /* requested tasks met */
	__u64 changed;	  /* entries changed */
	__u64 unknown;	  /* entries without a transition: their scope sets have TO_WANTED */
	__u64 failed;	  /* entries that could not be created */
	__u64 no_memory;  /* of `failed`: the memory cgroup that pays for the leader is full */
	__u64 task;	  /* scratch of on_walk */
};

/* The new scope set of tasks in an old one, which is its place in `transitions`. */
struct transition {
	__u16 op; /* the task walk; differs from walk_request.op: there is none */
	__u16 to; /* or TO_WANTED */
};

/* The bytes of two scope sets, the first of which is even: the kernel rounds values up to 8 bytes. */
struct transition_pair {
	struct transition of[2];
};

#define TO_WANTED 0xffffU /* on_walk met the scope set without a transition */

enum reg_state {
	REG_FREE,
	REG_CHANGING, /* a living user opens or closes it, without a lock; else a crash left it */
	REG_READY,
};

#ifndef __bpf__
static_assert(sizeof(struct event_reading) == 32, "shared layout");
static_assert(sizeof(struct event_base) == 40, "shared layout");
static_assert(sizeof(struct task_bucket) == 32, "shared layout");
static_assert(sizeof(struct reg_scope_set) == 32, "shared layout");
static_assert(MAX_SETS <= 1 << 16, "reg_scope_set.pool_set");
static_assert(sizeof(struct transition_pair) == 8, "mapped as one table");
static_assert(MAX_SCOPE_SETS <= TO_WANTED, "transition.to");
static_assert(sizeof(struct cpu_state) == 144 + MAX_EVENTS * 46, "shared layout");
static_assert(SET_EVENTS <= CHUNK_CELLS, "a set's cells lie in one chunk");
static_assert(CHUNK_CELLS % CARRY_CELLS == 0,
	      "carry cells in one map have their cells in one chunk");
#endif

#endif

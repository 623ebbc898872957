/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_SAMPLE_H
#define PERF_BPF_SAMPLE_H

/*
 * Structs and limits shared by the sampling programs and user space. Sessions of different builds
 * also meet here: any change of a struct or of its meaning raises LEADER_LAYOUT.
 */
#include "leader.h"

/* Sessions that sample at a time, and events that are sampled at a time. */
#define MAX_SAMPLERS	 64
#define MAX_SAMPLE_SLOTS 32

/* CPUs that a sampling session can choose from; others are always sampled. */
#define MAX_SAMPLE_CPUS 8192

/* Entries of a table. A new key looks at so many of them before it is lost. */
#define SAMPLE_ROWS   2048
#define SAMPLE_PROBES 16

/*
 * The store of stacks of a CPU is a ring of words. A stack is two words of header and its frames. Its
 * position only grows; it is intact until the ring comes around. Frames are written behind the last
 * stack before it is known whether the stack is new.
 */
#define STORE_WORDS	 32768
#define STACK_FRAMES	 127
#define STACK_HEADER	 2
#define STACK_WORDS	 (STACK_HEADER + STACK_FRAMES)
#define STORE_INDEX_BITS 12
#define STORE_WAYS	 4 /* a power of two */

/* The second word of a stack's header. */
#define STACK_NR(word)	   ((__u32)(word)&0xff)
#define STACK_OF_USER	   0x100
#define STACK_UNREADABLE   0x200
#define STACK_HEAD(nr, of) ((__u64)(nr) | (of))
#define STACK_NO_USER	   1	       /* as a position: no user stack could be read */
#define STACK_FIRST	   STORE_WORDS /* position of the first stack; 0: none */

/* sample_key.flags */
#define SAMPLED_USER	    0x100 /* besides the number of the slot */
#define SAMPLED_SLOT(flags) ((flags)&0xff)

/* The key of a row: all its samples have it in common. */
struct sample_key {
	__u64 kernel_stack; /* positions in the store */
	__u64 user_stack;
	__u64 start_ns; /* of the process, CLOCK_BOOTTIME */
	__u64 cgroup;
	__u64 ip;
	__u64 addr;
	__u32 pid;
	__u32 exec_id;
	__u32 tid;
	__s32 prio;
	__u64 flags;
};

#define SAMPLE_KEY_WORDS (sizeof(struct sample_key) / 8)

/* Parts of a key that a session can choose, and what its samples need. */
#define SAMPLE_NEEDS_KERNEL_STACK 0x01
#define SAMPLE_NEEDS_USER_STACK	  0x02
#define SAMPLE_NEEDS_ADDR	  0x04
#define SAMPLE_NEEDS_CGROUP	  0x08
#define SAMPLE_NEEDS_COMM	  0x10
#define SAMPLE_NEEDS_REST	  0x20 /* parts that SAMPLE_FORM_ANY alone has */

/*
 * Forms of keys. In the last two a key is all of these words of struct sample_key, and nothing else. So it is
 * the same for all sessions, and is compared with a row's without a mask.
 */
enum sample_form {
	SAMPLE_FORM_ANY,
	SAMPLE_FORM_IP,
	SAMPLE_FORM_STACKS,
	SAMPLE_FORM_NAMED_STACKS, /* and the task's name */
};

#define SAMPLE_WORDS_ANY     ((1U << SAMPLE_KEY_WORDS) - 1)
#define SAMPLE_WORDS_PROCESS (1U << 2 | 1U << 6 | 1U << 8) /* start_ns, pid and exec_id, flags */
#define SAMPLE_WORDS_IP	     (SAMPLE_WORDS_PROCESS | 1U << 4)
#define SAMPLE_WORDS_STACKS  (SAMPLE_WORDS_PROCESS | 1U << 0 | 1U << 1)

struct sample_row {
	struct sample_key key;
	__u64 nr; /* samples; 0: free */
	__u64 weight;
	char comm[16];
};

/*
 * A single sample of a session that wants each. Behind a half of a table on a CPU are so many of them as the
 * session has room for. The sample's row has the rest of it.
 */
struct sample_record {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 weight;
	__u32 row; /* of the same half */
	__u32 pad;
};

struct sample_count {
	__u64 nr;
	__u64 weight;
};

/* The counts of a slot's event on one CPU. The programs on that CPU write them. */
struct sample_seen {
	struct sample_count all;
	struct sample_count idle; /* of `all`: the idle task's */
	struct sample_count
		mode; /* of `all`: in modes that the event excludes, without `idle`; of clocks only */
};

/*
 * The effect of throttling on a slot's event on one CPU. A gap begins with the sample at which the kernel stops the
 * event, and ends with the next one. A burst is the time between two gaps of neighbouring ticks.
 */
struct sample_gaps {
	__u64 ns;      /* running time of gaps */
	__u64 lost_ns; /* the same, with only one tick of each that the idle CPU made longer than two */
	__u64 counter; /* that the event counted in them all the same */
	__u64 weight;  /* of the samples that ended them */
	__u64 burst_ns;
	__u64 burst_counter;
};

/* No burst is longer: two of the longest ticks (HZ 100). */
#define SAMPLE_MAX_BURST_NS 20000000

/* The programs on that CPU write it. An event begins with zeros. */
struct sample_throttle {
	struct sample_gaps gaps;
	__u64 counter; /* of the event in place where its last gap began or ended */
	__u64 running_ns;
	__u64 jiffies;
};

/* A reading of a slot's event on one CPU, by on_sample_sync. */
struct sample_reading {
	__u64 counter;
	__u64 enabled_ns;
	__u64 running_ns;
	struct sample_seen seen; /* at the same moment */
	struct sample_gaps gaps; /* with the part of the one that is under way */
	__u64 err; /* errno of the read; the numbers before it are then those of an older one */
};

/* One event of one session on one CPU. */
struct sample_event {
	__u64 period; /* its samples' weight if it is above the event's: thinned; 0: never */
	__u64 credit; /* weight of samples since the last one that was kept */
	struct sample_count lost; /* no room in the table */
	__u32 takes_idle;
	__u32 pad;
};

/*
 * A session's tables on one CPU. The CPU's programs write one half; a sync makes it still and turns to
 * the other, which the session has emptied. The session writes `needs`, `form`, `mask`, `max_records` and `event`
 * before the start.
 */
struct sample_table {
	__u32 is_on;
	__u32 half;		      /* the one being written; only on_sample_sync changes it */
	__u32 needs;		      /* SAMPLE_NEEDS_* */
	__u32 form;		      /* enum sample_form */
	__u64 mask[SAMPLE_KEY_WORDS]; /* the bits of a sample that the session's key has */
	__u32 max_records; /* room for records of single samples in each half; 0: not wanted */
	__u32 nr_records[2];
	__u32 pad;
	struct sample_event event[MAX_SAMPLE_SLOTS];
	struct sample_reading reading[MAX_SAMPLE_SLOTS];
	struct sample_row rows[2][SAMPLE_ROWS];
};

/* The state of a slot on one CPU. Only the holder of the lock changes it, or has on_sample_sync do so. */
struct sample_base {
	__u64 counter; /* of earlier events in this place */
	__u64 enabled_ns;
	__u64 running_ns;
	__u64 last; /* its count at its last sample, where that makes the weight */
	__u64 rate; /* of the event in place, by the slot's class; 0: none, or it is to be replaced */
	__u32 epoch; /* of the CPU when it was opened */
	/*
	 * The generation of its program; 0: none. Samples of others are not counted, nor are they read. The
	 * program adds SAMPLE_IN_GAP while the event is throttled.
	 */
	__u32 gen;
	__u32 may_be_placed; /* the map can have an event: written before it is placed, reset when it is gone */
	__u32 unused;
};

#define SAMPLE_IN_GAP 0x80000000 /* above all generations */

struct sample_cpu_slot {
	struct sample_seen seen;
	struct sample_base base;
	struct sample_throttle throttle;
};

/* Sampling on one CPU. */
struct sample_cpu {
	struct sample_cpu_slot slot[MAX_SAMPLE_SLOTS];
	__u64 head; /* position of the next stack; 0: none yet */
	__u64 index[1 << STORE_INDEX_BITS];
	__u64 words[STORE_WORDS + STACK_WORDS];
	__u32 busy;    /* a sample is being taken: it can be interrupted by a sync */
	__u32 syncing; /* a sync is under way: it can be interrupted by another */
};

enum sample_class {
	SAMPLE_CLASS_NONE,
	SAMPLE_CLASS_PERIOD, /* a fixed period */
	SAMPLE_CLASS_FREQ,   /* the kernel adapts the period */
};

/* An event that is sampled. User space writes it under the lock. */
struct sample_slot {
	__u32 class;	 /* enum sample_class, 0: free. Written last, reset first */
	__u32 with_addr; /* its samples have the data address */
	__u32 needs;	 /* of all takers */
	__u32 pad;
	__u64 users;  /* bit per sampler */
	__u64 takers; /* those of the users that have a rate. Written after needs */
	struct attr_key key;
};

/* A sampling session. User space writes it under the lock. */
struct sampler_place {
	__u32 token;	   /* of the session; 0: free. Written last */
	__u32 session;	   /* its number */
	__u32 needs;	   /* SAMPLE_NEEDS_* */
	__u32 has_records; /* it may have a map in sample_records. Written first, reset last */
	__u64 rate[MAX_SAMPLE_SLOTS];		/* period, or frequency, by the slot's class */
	__u64 other_cpus[MAX_SAMPLE_CPUS / 64]; /* CPUs that it does not sample */
};

/*
 * The ranges of addresses that sessions restrict themselves to, all together. From a border on, up to the
 * next one, an address is in the ranges of the same sessions. The first is at 0.
 */
#define MAX_SAMPLE_BORDERS 2048
#define MAX_SAMPLE_RANGES  ((MAX_SAMPLE_BORDERS - 1) / 2)

struct sample_border {
	__u64 start;
	__u64 samplers; /* bit per sampler */
};

struct sample_range_half {
	__u32 nr;
	__u32 step; /* bytes of as many borders as the highest power of two below nr; 0: nr is 0 or 1 */
	struct sample_border border[MAX_SAMPLE_BORDERS]; /* sorted, those behind nr at the end */
};

/* User space writes the other half under the lock, and turns to it. */
struct sample_ranges {
	__u32 in_use;
	__u32 pad;
	struct sample_range_half half[2];
};

/* The value of the variable `sample_plan`. */
struct sample_plan {
	__u64 of_tasks;	  /* bit per sampler: it samples the tasks of its scopes */
	__u64 of_cgroups; /* the same of cgroups */
	__u64 of_ranges;  /* bit per sampler: only instructions in its ranges */
	struct sample_slot slot[MAX_SAMPLE_SLOTS];
	struct sampler_place sampler[MAX_SAMPLERS];
	__u32 gen; /* of the last program that was loaded */
	__u32 pad;
	struct sample_ranges ranges;
	__u8 sampler_of[MAX_SESSIONS]; /* a session's sampler plus 1; 0: it does not sample */
	/* Behind all that programs read: their offsets cost instructions. */
	__u64 sleepers; /* bit per sampler: it has not collected for long, so its rates do not count */
	__u32 turns[MAX_SAMPLERS]; /* collections of each; only the session itself writes its own */
};

/* Operations of on_sample_sync, in this order. */
#define SAMPLE_OFF   0x01 /* no more samples for the session on this CPU */
#define SAMPLE_FLIP  0x02 /* turn to the other half of its table */
#define SAMPLE_READ  0x04 /* read the slots of the mask into its table */
#define SAMPLE_ON    0x08
#define SAMPLE_CLOSE 0x10 /* add the last reading of the slots to their bases */
#define SAMPLE_WAKE  0x20 /* wake all sessions: rates rise. Nothing else of these */

#ifndef __bpf__
static_assert(sizeof(struct sample_key) == 72, "shared layout");
static_assert(offsetof(struct sample_key, start_ns) == 2 * 8 &&
		      offsetof(struct sample_key, ip) == 4 * 8 &&
		      offsetof(struct sample_key, pid) == 6 * 8 &&
		      offsetof(struct sample_key, flags) == 8 * 8,
	      "SAMPLE_WORDS_*");
static_assert(sizeof(struct sample_row) == 104, "shared layout");
static_assert(sizeof(struct sample_record) == 24, "shared layout");
static_assert(sizeof(struct sample_table) % 8 == 0, "mapped as whole words");
static_assert(sizeof(struct sample_cpu) % 8 == 0, "mapped as whole words");
static_assert(sizeof(struct sample_plan) % 8 == 0, "mapped as whole words");
#endif

#endif

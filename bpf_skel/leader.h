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
#endif

#define LEADER_LAYOUT 1

/*
 * Slots for shared events. A CPU has 4 to 8 hardware counters; the rest is software events,
 * tracepoints and uncore boxes. A slot costs 8 bytes per possible CPU in `events` and 32 in
 * `readings`; 256 are four words of the mask that a sync is given.
 */
#define MAX_EVENTS 256
#define MASK_WORDS (MAX_EVENTS / 64)

/* Runs at a time. Each costs one bit per event slot. */
#define MAX_RUNS 1024

/*
 * The key of the frozen table and of events in the registry: struct perf_event_attr as of Linux
 * 7.x; shorter ones are extended with zeros.
 */
#define ATTR_KEY_SIZE 144

struct attr_key {
	__u8 bytes[ATTR_KEY_SIZE];
};

/* One reading of one event on one CPU. Written by on_sync, read by user space. */
struct event_reading {
	__u64 counter;		/* counter units, since the event was opened */
	__u64 enabled_ns;
	__u64 running_ns;
	__u32 err;		/* errno of the read; the numbers are then of an older reading */
	__u32 gen;		/* reg_event.gen when it was read */
};

/* The readings of one CPU. */
struct cpu_readings {
	__u64 seq;		/* odd while on_sync writes */
	__u64 busy;		/* 1 while on_sync runs here: another may interrupt it */
	__u64 syncs;		/* completed ones */
	__u64 nested;		/* syncs that found it busy and did nothing */
	struct event_reading event[MAX_EVENTS];
};

enum reg_state {
	REG_FREE,
	REG_CHANGING,		/* being opened or closed; with the lock free: left by a crash */
	REG_READY,
};

/* One shared event; written by user space under the lock. */
struct reg_event {
	__u32 state;		/* enum reg_state; made REG_READY last, unmade first */
	__u32 gen;		/* raised whenever perf events are put into the slot */
	__u32 leader;		/* slot of the group's leader; its own when it stands alone */
	__u32 nr_members;	/* of a group leader: members, in consecutive slots; else 0 */
	__u32 nr_open;		/* perf events in the slot: CPUs it is open on */
	__u32 pad;
	__u64 users[MAX_RUNS / 64];	/* bit per run */
	struct attr_key key;	/* canonical struct perf_event_attr */
};

/* One run; written by user space under the lock. */
struct reg_run {
	__u32 token;		/* id of its liveness map; 0: free. Written last */
	__u32 pid;		/* in the pid namespace of the run, for people */
	__u64 start_ns;		/* CLOCK_MONOTONIC of its registration */
	char comm[16];
};

enum leader_map { LEADER_REGISTRY, LEADER_EVENTS, LEADER_READINGS, LEADER_SHARED, NR_LEADER_MAPS };
enum leader_prog { LEADER_ON_SWITCH, LEADER_ON_SYNC, NR_LEADER_PROGS };

/*
 * Who counts what: the one value of the map `registry`. Changed only under the lock; every order
 * of writes is such that a crash between any two leaves it usable (util/registry.c).
 */
struct registry {
	__u32 layout;		/* LEADER_LAYOUT; 0 until the leader is complete */
	__u32 size;		/* sizeof(struct registry) */
	__u32 nr_cpus;		/* possible CPUs: rows of `readings`, entries per slot of `events` */
	__u32 attr_map_id;	/* the attr map it serves */
	__u32 link_id;		/* what entries of the attr map name */
	__u32 map_ids[NR_LEADER_MAPS];
	__u32 prog_ids[NR_LEADER_PROGS];
	__u32 pad;
	struct reg_run run[MAX_RUNS];
	struct reg_event event[MAX_EVENTS];
};

/* Value of `perf_shared_v0`, frozen for all layouts: where the perf events of an attr are. */
struct shared_event {
	__u32 map_id;		/* a PERF_EVENT_ARRAY */
	__u32 first_idx;	/* index of CPU 0 in it; one entry per possible CPU */
};

#ifndef __bpf__
static_assert(sizeof(struct event_reading) == 32, "shared layout");
static_assert(sizeof(struct reg_event) == 24 + MAX_RUNS / 8 + ATTR_KEY_SIZE, "shared layout");
static_assert(sizeof(struct reg_run) == 32, "shared layout");
static_assert(sizeof(struct registry) % 8 == 0, "mapped as whole words");
#endif

#endif

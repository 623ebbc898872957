/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_REGISTRY_H
#define PERF_BPF_LEADER_REGISTRY_H

/*
 * Who counts what: what runs tell each other. Any change of a struct or of its meaning raises
 * LEADER_LAYOUT.
 */

#include "leader.h"

struct reg_scope {
	__u32 run;		/* whose it is, plus 1; 0: free. Written last */
	__u32 set;		/* its events */
	__u32 inherits;		/* its tasks' children are counted, too */
	__u32 pad;
	__u64 cgroup;		/* the kernel's number of the cgroup; 0: it counts tasks */
};

/*
 * registry.fold: the sums of one class now belong to another, whose carry cells are in a copy. The
 * record is one word, so that one store decides: whoever finds it finishes the rest.
 */
#define FOLD(from, into, copy) ((__u64)(from) << 32 | (__u64)(copy) << 31 | (into))
#define FOLD_FROM(fold) ((__u32)((fold) >> 32))
#define FOLD_INTO(fold) ((__u32)(fold) & 0x7fffffffU)
#define FOLD_COPY(fold) ((__u32)(fold) >> 31)

/* One shared event; written by user space under the lock. */
struct reg_event {
	__u32 state;		/* enum reg_state; made REG_READY last, unmade first */
	__u32 leader;		/* slot of the group's leader; its own when it stands alone */
	__u32 nr_members;	/* of a group leader: members, in consecutive slots; else 0 */
	__u32 nr_open;		/* perf events in the slot: CPUs it is open on */
	__u64 users[MAX_RUNS / 64];	/* bit per run */
	struct attr_key key;	/* canonical struct perf_event_attr */
};

/* One run; written by user space under the lock. */
struct reg_run {
	__u32 token;		/* id of its liveness map; 0: free. Written last */
	__u32 pid;		/* in the pid namespace of the run, for people */
	__u64 start_ns;		/* CLOCK_MONOTONIC of its registration */
	char comm[16];
	__u64 births_seen;	/* plus 1, of a run that counts cgroups by pattern; 0: it does not */
};

enum pair_link { PAIR_LEAVE, PAIR_ENTER, NR_PAIR_LINKS };	/* in the order of attaching */
enum pair_map { PAIR_PLAN, PAIR_CPUS, NR_PAIR_MAPS };

/*
 * The probes at one BPF program (bpf_skel/prog_pair.h), held by the runs that count it; written by
 * user space under the lock. They read the events that one of these runs has.
 */
struct reg_pair {
	__u32 prog_id;		/* the program; 0: free. Written last */
	__u32 pad;
	__u32 link_ids[NR_PAIR_LINKS];
	__u32 map_ids[NR_PAIR_MAPS];
	__u64 users[MAX_RUNS / 64];	/* bit per run */
};

enum leader_map {
	LEADER_REGISTRY,
	LEADER_EVENTS,
	LEADER_READINGS,
	LEADER_SHARED,
	LEADER_CPUS,
	LEADER_CLASSES,
	LEADER_SETS,
	LEADER_SUMS,
	LEADER_TASKS,
	LEADER_BUCKETS,
	LEADER_MARKING,
	LEADER_TRANSITIONS,
	LEADER_WANTED,
	LEADER_COUNTS,
	LEADER_CALLS,
	LEADER_FOREIGN,
	LEADER_DIFFS,
	LEADER_CLOCK,
	LEADER_NEWBORNS,
	LEADER_CGROUPS,
	LEADER_CGROUP_IDS,
	NR_LEADER_MAPS
};

enum leader_prog {
	LEADER_ON_SWITCH,
	LEADER_ON_SYNC,
	LEADER_ON_NEWTASK,
	LEADER_ON_RENAME,
	LEADER_ON_EXIT,
	LEADER_ON_FREE,
	LEADER_ON_MARK,
	LEADER_ON_EXIT_EVENT,	/* this or LEADER_ON_EXIT is not loaded: id 0 */
	LEADER_ON_HOTPLUG,
	/* Loaded when the first run counts cgroups; 0 until then */
	LEADER_ON_CGROUP_SWITCH,
	LEADER_ON_CGROUP_SYNC,
	LEADER_ON_ATTACH,
	LEADER_ON_MKDIR,
	NR_LEADER_PROGS
};

/* Links that exist only while tasks, or cgroups, are counted: held by the runs that do. */
enum task_link {
	TASK_LINK_NEWTASK,
	TASK_LINK_FREE,
	TASK_LINK_EXIT_EVENT,	/* either this... */
	TASK_LINK_EXIT,		/* ...or this */
	TASK_LINK_RENAME,
	TASK_LINK_SWITCH,
	CGROUP_LINK_ATTACH,
	CGROUP_LINK_SWITCH,
	WATCH_LINK_MKDIR,	/* held by the runs that count cgroups by pattern */
	NR_TASK_LINKS
};

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
	__u32 hotplug_link_id;	/* 0: CPUs that come back cannot be noticed */
	__u32 map_ids[NR_LEADER_MAPS];
	__u32 prog_ids[NR_LEADER_PROGS];
	__u32 task_link_ids[NR_TASK_LINKS];	/* 0: none; held by the runs that need them */
	__u32 chunk_ids[MAX_CHUNKS];	/* maps in `sums`; 0: none yet */
	__u32 diff_ids[MAX_EVENTS];	/* maps that followers of the slots read; 0: none yet */
	__u32 is_serving;		/* followers of other implementations have been seen */
	__u32 is_hidden;		/* so many that no more may come */
	__u32 nr_classes;	/* the highest class id ever used, plus 1 */
	__u32 nr_scopes;	/* the same of scopes */
	__u32 pad;
	__u64 births_settled;	/* newborns before this one have no class of their own any more */
	__u64 class_gen;	/* odd while sums move between classes */
	__u64 fold;		/* FOLD_FROM, FOLD_INTO: a move that is decided; 0: none */
	struct reg_run run[MAX_RUNS];
	struct reg_event event[MAX_EVENTS];
	struct reg_scope scope[MAX_SCOPES];
	__u32 switch_offsets[2];	/* of nvcsw and nivcsw in task_struct; 0: not looked up */
	struct reg_pair pair[MAX_PAIRS];
};

/* Value of `perf_shared_v0`, frozen for all layouts: where the perf events of an attr are. */
struct shared_event {
	__u32 map_id;		/* a PERF_EVENT_ARRAY */
	__u32 first_idx;	/* index of CPU 0 in it; one entry per possible CPU */
};

#ifndef __bpf__
static_assert(sizeof(struct reg_event) == 16 + MAX_RUNS / 8 + ATTR_KEY_SIZE, "shared layout");
static_assert(sizeof(struct reg_run) == 40, "shared layout");
static_assert(sizeof(struct reg_pair) == 24 + MAX_RUNS / 8, "shared layout");
static_assert(sizeof(struct registry) % 8 == 0, "mapped as whole words");
static_assert(offsetof(struct registry, births_settled) == offsetof(struct registry, pad) + 4,
	      "no hole");
#endif

#endif

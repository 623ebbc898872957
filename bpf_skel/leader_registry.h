/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_REGISTRY_H
#define PERF_BPF_LEADER_REGISTRY_H

/*
 * The registry: sessions, and their events and scopes, in one table for all sessions. Any change
 * of a struct or of its meaning raises LEADER_LAYOUT.
 */
#include "leader.h"

struct reg_scope {
	__u32 session;	/* the owner's number plus 1; 0: free. Written last */
	__u32 set;	/* its events */
	__u32 inherits; /* it also counts the children of its tasks */
	__u32 missed;	/* new tasks without an entry; programs write it */
	__u64 cgroup;	/* the kernel's number of the cgroup; 0: it counts tasks */
};

/*
 * registry.merge: the sums of one scope set now belong to another, with that one's carry cells in
 * a copy. The record is one word, so that one store decides. The next session finishes a merge
 * that it finds here.
 */
#define MERGE(from, into, copy) ((__u64)(from) << 32 | (__u64)(copy) << 31 | (into))
#define MERGE_FROM(merge)	((__u32)((merge) >> 32))
#define MERGE_INTO(merge)	((__u32)(merge)&0x7fffffffU)
#define MERGE_COPY(merge)	((__u32)(merge) >> 31)

/*
 * registry.opening: the session that opens events again, by its token, and when it last began to open
 * one, in milliseconds. It is one word, so that a session takes over with one exchange.
 */
#define OPENING(token, ms)     ((__u64)(token) << 32 | (__u32)(ms))
#define OPENING_TOKEN(opening) ((__u32)((opening) >> 32))
#define OPENING_AT_MS(opening) ((__u32)(opening))

/*
 * One shared event. Sessions claim it under the attr map's lock (REG_CHANGING). The session that has claimed it
 * writes it without.
 */
struct reg_event {
	__u32 state;	  /* enum reg_state; set to REG_READY last, reset first */
	__u32 leader;	  /* slot of the group's leader; its own outside of groups */
	__u32 nr_members; /* of a group leader: members, in consecutive slots; otherwise 0 */
	__u32 nr_open;	  /* perf events in the slot: number of CPUs it is open on */
	__u64 users[MAX_SESSIONS / 64]; /* bit per session */
	struct attr_key key;		/* canonical struct perf_event_attr */
};

/* One session. It registers under the attr map's lock, and leaves by clearing its token, without. */
struct reg_session {
	__u32 token; /* id of its liveness map; 0: free. Written last */
	__u32 pid; /* in the session's pid namespace, for people; 0: it only closes what others left */
	__u64 start_ns; /* CLOCK_MONOTONIC of its registration */
	char comm[16];
	__u64 nr_seen; /* pool entries seen, plus 1; 0: it counts no cgroups by pattern */
	/*
	 * Lower half: how many pool entries were to be reclaimed before the sessions in this place saw them.
	 * Upper half: the number of the last one. One store changes both, so that none counts twice.
	 */
	__u64 passed;
	__u32 holds_switches; /* the link of on_switch at switches */
	__u32 pad;
};

enum pair_link { PAIR_LEAVE, PAIR_ENTER, NR_PAIR_LINKS }; /* in the order of attaching */
enum pair_map { PAIR_PLAN, PAIR_CPUS, NR_PAIR_MAPS };

/*
 * The probes at one BPF program (bpf_skel/prog_pair.h). The sessions that count the program hold
 * them; user space writes this under the lock. The probes read the events of these sessions.
 */
struct reg_pair {
	__u32 prog_id; /* the program; 0: free. Written last */
	__u32 pad;
	__u32 link_ids[NR_PAIR_LINKS];
	__u32 map_ids[NR_PAIR_MAPS];
	__u64 users[MAX_SESSIONS / 64]; /* bit per session */
};

enum leader_map {
	LEADER_REGISTRY,
	LEADER_READINGS, /* before the others: its size is the number of CPUs */
	LEADER_EVENTS,
	LEADER_SHARED,
	LEADER_CPUS,
	LEADER_SCOPE_SETS,
	LEADER_SETS,
	LEADER_SUMS,
	LEADER_TASK_SLICES,
	LEADER_TASKS,
	LEADER_BUCKETS,
	LEADER_WALK,
	LEADER_TRANSITIONS,
	LEADER_WAKEUPS,
	LEADER_FOREIGN,
	LEADER_DIFFS,
	LEADER_CLOCK,
	LEADER_POOL,
	LEADER_CGROUPS,
	LEADER_CGROUP_IDS,
	LEADER_CREATED,
	LEADER_CGROUP_SLICES,
	LEADER_EXIT_EVENT, /* the kprobe at exits, once a session has counted tasks */
	/* Tables of programs, by enum leader_prog: each takes programs of one type */
	LEADER_KEPT,
	LEADER_KEPT_WALK,
	LEADER_KEPT_ABOVE,
	NR_LEADER_MAPS
};

enum leader_prog {
	LEADER_ON_SWITCH,
	LEADER_ON_SYNC,
	LEADER_ON_HOTPLUG,
	/* Loaded when the first session counts tasks; id 0 until then */
	LEADER_ON_TASK_SWITCH,
	LEADER_ON_TASK_SYNC,
	LEADER_ON_NEWTASK,
	LEADER_ON_RENAME,
	LEADER_ON_FREE,
	LEADER_ON_WALK,
	LEADER_ON_EXIT_EVENT, /* either this... */
	LEADER_ON_EXIT,	      /* ...or this: at least one has an id */
	/* Loaded when the first session counts cgroups; id 0 until then */
	LEADER_ON_CGROUP_SWITCH,
	LEADER_ON_CGROUP_SYNC,
	LEADER_ON_ATTACH,
	LEADER_ON_MKDIR,
	LEADER_ON_ABOVE,
	LEADER_ON_CGROUP_LOOK,
	NR_LEADER_PROGS
};

/* Links that exist only while sessions need them. These sessions hold them. */
enum task_link {
	TASK_LINK_NEWTASK,
	TASK_LINK_FREE,
	TASK_LINK_EXIT, /* only where has_exit_event is 0 */
	TASK_LINK_RENAME,
	TASK_LINK_SWITCH,
	CGROUP_LINK_ATTACH,
	CGROUP_LINK_SWITCH,
	WATCH_LINK_MKDIR,  /* held by the sessions that count cgroups by pattern */
	SERVE_LINK_SWITCH, /* on_switch, held by the sessions that have seen followers */
	NR_TASK_LINKS
};

enum sample_map {
	SAMPLE_EVENTS,
	SAMPLE_PLAN,
	SAMPLE_CPUS,
	SAMPLE_TABLES,
	SAMPLE_RECORDS,
	NR_SAMPLE_MAPS
};

/*
 * The object for sampling (bpf_skel/sample.h). The sessions that sample hold it; user space writes this
 * under the lock of tasks.
 */
struct reg_sample {
	__u32 prog_id; /* on_sample_sync, whose maps these are; 0: none. Written last */
	__u32 map_ids[NR_SAMPLE_MAPS];
};

/*
 * The one value of the map `registry`. Each part has its own rule for writing. All writes are ordered so that
 * a crash between any two leaves it usable (util/bperf/registry.h).
 */
struct registry {
	__u32 layout;		       /* LEADER_LAYOUT; 0 until the leader is complete */
	__u32 size;		       /* sizeof(struct registry) */
	__u32 nr_cpus;		       /* rows of `readings`, entries per slot of `events` */
	__u32 attr_map_id;	       /* the attr map that it serves */
	__u32 link_id;		       /* the link that entries of the attr map name */
	__u32 hotplug_link_id;	       /* 0: sessions cannot notice CPUs that come back */
	__u32 map_ids[NR_LEADER_MAPS]; /* 0: no session has needed it */
	__u32 prog_ids[NR_LEADER_PROGS];
	__u32 task_link_ids[NR_TASK_LINKS]; /* 0: none; held by the sessions that need them */
	__u32 chunk_ids[MAX_CHUNKS];	    /* maps in `sums`; 0: none yet */
	__u32 carry_ids[MAX_CARRIES];	    /* maps of carry cells; 0: none yet */
	__u32 diff_ids[MAX_EVENTS]; /* by slot: maps that foreign followers read; 0: none yet */
	__u32 is_serving;	    /* foreign followers have been seen */
	__u32 is_hidden;	    /* foreign followers reached the limit: no more may come */
	__u32 nr_scope_sets;	    /* the highest scope set id ever used, plus 1 */
	__u32 nr_scopes;	    /* the same of scopes */
	__u32 has_exit_event;	    /* on_exit_event is attached, for as long as the leader lives */
	__u32 late_cpu; /* the last CPU to come online that has no row; programs write it */
	__u32 nr_late; /* how often one did; incremented after that. Only a change means something */
	__u32 pad;
	__u64 nr_reclaimed;  /* older pool entries have lost their own scope set */
	__u64 scope_set_gen; /* odd while sums move between scope sets */
	__u64 merge;	     /* MERGE(): a merge that is decided; 0: none */
	__u64 opening;	     /* OPENING(): a session opens events again; 0: none does */
	/*
	 * The directories whose locks guard all this; a session with another lock must not touch it
	 */
	__u64 lock_dev;
	__u64 lock_ino;
	__u64 task_lock_dev;
	__u64 task_lock_ino;
	struct reg_session session[MAX_SESSIONS];
	struct reg_event event[MAX_EVENTS];
	struct reg_scope scope[MAX_SCOPES];
	__u32 switch_offsets[2]; /* of nvcsw and nivcsw in task_struct; 0: not looked up */
	struct reg_pair pair[MAX_PAIRS];
	struct reg_sample sample;
};

/* Value of `perf_shared_v0`, frozen for all layouts: the place of an attr's perf events. */
struct shared_event {
	__u32 map_id;	 /* a PERF_EVENT_ARRAY */
	__u32 first_idx; /* index of CPU 0 in it; one entry for each CPU that its leader counts */
};

#ifndef __bpf__
static_assert(sizeof(struct reg_event) == 16 + MAX_SESSIONS / 8 + ATTR_KEY_SIZE, "shared layout");
static_assert(sizeof(struct reg_session) == 56, "shared layout");
static_assert(sizeof(struct reg_pair) == 24 + MAX_SESSIONS / 8, "shared layout");
static_assert(sizeof(struct registry) % 8 == 0, "mapped as whole words");
static_assert(offsetof(struct registry, nr_reclaimed) == offsetof(struct registry, pad) + 4,
	      "no hole");
#endif

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_INTERNAL_H
#define PERF_BPERF_LEADER_INTERNAL_H

/* The struct of the leader, for the files of this room. */

#include "bpf_skel/leader_registry.h"
#include "util/bperf/identify.h"
#include "util/bperf/leader_record.h"
#include "util/bperf/scope_tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A ring buffer of wakeups by programs, mapped when first needed. */
struct wakeup_ring {
	unsigned long *seen; /* the position up to which sessions have seen them */
	const unsigned long *made;
};

struct bperf_leader {
	struct registry *registry; /* mapped; see util/bperf/registry.h */
	int nr_cpus;		   /* the highest that was present when it was made, plus 1 */
	int link_fd;
	int hotplug_link_fd;
	int map_fds[NR_LEADER_MAPS];
	int prog_fds[NR_LEADER_PROGS];
	__u8 *readings;		     /* mapped */
	struct attr_map *attr_map;   /* borrowed */
	struct leader_record record; /* that led here */
	int session;		     /* our number in the registry, -1: not registered */
	int token_fd;		     /* our liveness token */
	__u32 token;		     /* its id */
	bool only_closes;	     /* registered for as long as it closes what others left */
	int nr_looks;		     /* at events that other sessions are opening */

	/* A session that was seen to be dead, without the lock; token 0: none */
	int dead_session;
	__u32 dead_token;
	__u32 nr_looked_at; /* slots, by leader_announce__some() */
	__u32 nr_late;	    /* of the registry, as of the last late_cpus__next() */

	/* for util/bperf/leader_wakeup.c */
	struct wakeup_ring wakeups;
	struct wakeup_ring created; /* wakes sessions that watch for new cgroups */

	/* for util/bperf/foreign_followers.c, as of its last look */
	struct foreign_users followers;
	bool is_followed[MAX_EVENTS];

	struct foreign_watch
		*watch; /* of util/bperf/foreign_watch.c; CPU x slot; NULL until needed */

	/* Tables, mapped */
	struct cpu_state *cpus; /* per CPU */
	struct task_bucket *buckets;
	struct walk_request *walk;
	struct transition *transitions; /* MAX_SCOPE_SETS */
	struct scope_tables scope_sets;
	struct sum_block *chunks[MAX_CHUNKS]; /* one block per CPU; NULL: not mapped yet */
	struct carry_block *carries[MAX_CARRIES];
	int nr_chunks, nr_carries;	/* those behind are not mapped */
	struct task_slice *task_slices; /* per CPU */
	int task_link_fds[NR_TASK_LINKS];
	struct cgroup_clock *cgroup_clock;
	struct pool_entry *pool;	    /* MAX_POOL_ENTRIES */
	struct reg_cgroup *cgroups;	    /* MAX_CGROUPS */
	struct cgroup_slice *cgroup_slices; /* per CPU */
};

#endif

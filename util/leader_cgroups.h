/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_LEADER_CGROUPS_H
#define PERF_UTIL_LEADER_CGROUPS_H

/*
 * Counting cgroups with the leader. Each cgroup that somebody counts has an entry in the table
 * `cgroups`: its class, which has the scopes of the cgroup itself and of all above it. Any other
 * cgroup has the class of the nearest one above it with an entry: programs look that up and keep
 * it, per CPU, for an epoch. So whoever changes classes of cgroups
 *	1. stores them, in place: what is read meanwhile is kept for the old epoch only
 *	2. raises the epoch
 *	3. syncs all CPUs: each has looked up its running cgroup's class again then
 * An entry that no living scope needs is removed by whoever cleans up next.
 * All of it needs the attr map's lock, but for sync.
 */

#include "../bpf_skel/leader.h"

#include <stdbool.h>

struct cgroup_fs;
struct leader;

/** leader_cgroups__attach() - have switches and moves followed while this run lives; 0 or -errno */
int leader_cgroups__attach(struct leader *leader);

/* A cgroup that a run begins to count. */
struct cgroup_scope {
	__u64 id;		/* the kernel's number */
	const char *dir;
	int scope;		/* of this run */
};

/**
 * leader_cgroups__mark() - have scopes count their cgroups and all below these
 * @list: @nr of them
 *
 * Return: 0, or -errno without a message: -ENOSPC too many cgroups or classes.
 */
int leader_cgroups__mark(struct leader *leader, const struct cgroup_fs *fs,
			 const struct cgroup_scope *list, int nr);

/**
 * leader_cgroups__unmark() - no cgroup is in a class with a scope of the run any more
 *
 * The classes are still there, with what they have counted. Return: 0 or -errno.
 */
int leader_cgroups__unmark(struct leader *leader, int run);

/**
 * leader_cgroups__sync() - charge the cgroups that CPUs are running
 * @is_wanted: asked for the class a CPU is running; NULL: all online CPUs
 *
 * Return: 0 or -errno.
 */
int leader_cgroups__sync(struct leader *leader, bool (*is_wanted)(void *ctx, int class), void *ctx);

#endif

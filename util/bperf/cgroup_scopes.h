/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_CGROUP_SCOPES_H
#define PERF_BPERF_CGROUP_SCOPES_H

/*
 * Assigning scopes to cgroups. Each counted cgroup has an entry in the table `cgroups`, its scope set. This
 * has the scopes of the cgroup itself and of all above it. Any other cgroup has the scope set of the nearest
 * one above it with an entry. Programs look that up and keep it, per CPU, for an epoch. So a session that
 * changes scope sets of cgroups
 *	1. stores them in place: programs that read them meanwhile keep them for the old epoch only
 *	2. raises the epoch
 *	3. syncs all CPUs: each has looked up its running cgroup's scope set again then.
 * The next session that cleans up removes entries that no living scope needs.
 * All of it needs the lock of tasks.
 */

#include "bpf_skel/leader.h"

#include <stdbool.h>

struct cgroup_fs;
struct bperf_leader;

/** cgroup_scopes__attach() - have switches and moves followed while this session lives; 0 or -errno */
int cgroup_scopes__attach(struct bperf_leader *leader);

/* A cgroup that a session begins to count. */
struct cgroup_scope {
	__u64 id; /* the kernel's number */
	const char *dir;
	int scope; /* of this session */
};

/**
 * cgroup_scopes__assign() - have scopes count their cgroups and all below these
 * @list: @nr of them
 *
 * Return: 0, or -errno without a message: -ENOSPC: too many cgroups or scope sets. With a message:
 * -EOPNOTSUPP: the cgroups above the top of our mount cannot be found out.
 */
int cgroup_scopes__assign(struct bperf_leader *leader, const struct cgroup_fs *fs,
			  const struct cgroup_scope *list, int nr);

/**
 * cgroup_scopes__unassign() - no cgroup is in a scope set with a scope of the session any more
 *
 * The scope sets are still there, with what they have counted. Return: 0 or -errno.
 */
int cgroup_scopes__unassign(struct bperf_leader *leader, int session);

#endif

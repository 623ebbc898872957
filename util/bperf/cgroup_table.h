/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_CGROUP_TABLE_H
#define PERF_BPERF_CGROUP_TABLE_H

/*
 * The leader's table of counted cgroups: their scope sets, and where programs find them. The protocol by
 * which it changes while programs look is in leader_cgroups.bpf.c. Functions return 0 or -errno, and all
 * need the lock of tasks.
 */

#include "bpf_skel/leader.h"

#include <stdbool.h>

struct id_map;
struct bperf_leader;

/** cgroup_table__is_used() - whether an entry has a cgroup; those of pool entries to come have none */
bool cgroup_table__is_used(const struct bperf_leader *leader, int pos);

/** cgroup_table__own_scope_set() - the scope set in an entry, also of a pool entry or a place without cgroup */
__u32 cgroup_table__own_scope_set(const struct bperf_leader *leader, int pos);

/** cgroup_table__scope_set() - the scope set of an entry; of a pool entry that of all above it */
__u32 cgroup_table__scope_set(const struct bperf_leader *leader, int pos);

/** cgroup_table__read() - number -> position of all entries */
int cgroup_table__read(const struct bperf_leader *leader, struct id_map *known);

/** cgroup_table__set_scope_set() - store a scope set in place; programs read the old or the new one */
void cgroup_table__set_scope_set(struct bperf_leader *leader, int pos, __u32 scope_set);

/**
 * cgroup_table__find_free() - a position without entry
 * @hint: none before it is free; raised. Begin with 0
 *
 * Return: the position, or -ENOSPC.
 */
int cgroup_table__find_free(struct bperf_leader *leader, int *hint);

/** cgroup_table__add() - a cgroup of this number is of this scope set from the next epoch on */
int cgroup_table__add(struct bperf_leader *leader, __u64 id, __u32 scope_set, int *hint);

/** cgroup_table__show() - have programs find the cgroup of an entry, if a session hid it and failed then */
int cgroup_table__show(struct bperf_leader *leader, __u32 pos);

/** cgroup_table__hide() - programs do not find a cgroup any more; its entry stays */
int cgroup_table__hide(struct bperf_leader *leader, __u64 id);

/**
 * cgroup_table__begin_epoch() - make every CPU use what was stored
 *
 * When it returns, no program still looks at what was there before. It interrupts the CPUs that run a cgroup
 * whose scope set has changed.
 */
int cgroup_table__begin_epoch(struct bperf_leader *leader);

/**
 * cgroup_table__forget_running() - forget which cgroups CPUs run, when no program follows them
 *
 * It takes the place of an epoch. The counts of their last slices are dropped.
 */
int cgroup_table__forget_running(struct bperf_leader *leader);

/** cgroup_table__read_needed() - number -> scope of the cgroups that scopes count, but for a session's */
int cgroup_table__read_needed(const struct bperf_leader *leader, int session,
			      struct id_map *needed);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_LEADER_CGROUP_TABLE_H
#define PERF_UTIL_LEADER_CGROUP_TABLE_H

/*
 * The leader's table of cgroups, leader->cgroups: the class of each cgroup that is counted, and
 * where programs find it. How it is changed while they look is told in leader_cgroups.h. Functions
 * return 0 or -errno, and all need the attr map's lock.
 */

#include "../bpf_skel/leader.h"

#include <stdbool.h>

struct id_map;
struct leader;

/** cgroup_table__is_used() - whether an entry has a cgroup; those of newborns to come have none */
bool cgroup_table__is_used(const struct leader *leader, int pos);

/** cgroup_table__class() - where the class of an entry stands; of a newborn that of all above it */
__u32 *cgroup_table__class(const struct leader *leader, int pos);

/** cgroup_table__read() - number -> position of all entries */
int cgroup_table__read(const struct leader *leader, struct id_map *known);

/** cgroup_table__set_class() - in place: whoever reads it now sees the one or the other */
void cgroup_table__set_class(struct leader *leader, int pos, __u32 class);

/**
 * cgroup_table__find_free() - a position without entry
 * @hint: none before it is free; raised. Begin with 0
 *
 * Return: the position, or -ENOSPC.
 */
int cgroup_table__find_free(struct leader *leader, int *hint);

/** cgroup_table__add() - a cgroup of this number is of this class from the next epoch on */
int cgroup_table__add(struct leader *leader, __u64 id, __u32 class, int *hint);

/** cgroup_table__hide() - programs do not find a cgroup any more; its entry stays */
int cgroup_table__hide(struct leader *leader, __u64 id);

/** cgroup_table__begin_epoch() - what was stored holds from here on, on every CPU */
int cgroup_table__begin_epoch(struct leader *leader);

/**
 * cgroup_table__forget_running() - nobody follows cgroups any more
 *
 * In place of an epoch. What their last slices counted is nobody's.
 */
int cgroup_table__forget_running(struct leader *leader);

/** cgroup_table__read_needed() - number -> scope of the cgroups that scopes count, but for a run's */
int cgroup_table__read_needed(const struct leader *leader, int run, struct id_map *needed);

#endif

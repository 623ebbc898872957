/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_BPERF_CGROUPS_H
#define PERF_UTIL_BPERF_CGROUPS_H

/* The cgroups of one run, counted through shared events: a scope each. */

#include "../bpf_skel/leader.h"
#include "cgroup.h"

#include <stdbool.h>

struct bperf_cgroups;
struct bperf_scopes;
struct leader;

/**
 * bperf_cgroups__new() - count the cgroups of a list
 * @leader: joined, its attr map locked
 * @list: those in state CGROUP_LIVE; borrowed as long as this lives
 * @slots: of the run's events, any order, none twice
 * @is_switches: per slot, enum switch_event
 * @out: on success, released by bperf_cgroups__delete()
 *
 * Return: 0, or -errno after a message.
 */
int bperf_cgroups__new(struct leader *leader, struct cgroup_list *list, const int *slots,
		       const int *is_switches, int nr, struct bperf_cgroups **out);

/**
 * bperf_cgroups__update() - count cgroups that came, or count those no more that are gone
 * @state: which of the two: those that are CGROUP_NEW in its list, or CGROUP_GONE
 *
 * What is gone must have been read before. The attr map must be locked.
 * Return: 0, or -errno after a message.
 */
int bperf_cgroups__update(struct bperf_cgroups *cgroups, enum cgroup_state state);

/** bperf_cgroups__look() - note in the list which cgroups were made since the last time; 0 or -ENOMEM */
int bperf_cgroups__look(struct bperf_cgroups *cgroups);

/** bperf_cgroups__is_current() - bperf_cgroups__update() would have nothing to do */
bool bperf_cgroups__is_current(const struct bperf_cgroups *cgroups, enum cgroup_state state);

/** bperf_cgroups__missed() - cgroups that were made and could not be counted from the first */
__u64 bperf_cgroups__missed(const struct bperf_cgroups *cgroups);

/** bperf_cgroups__delete() - NULL is ignored; the scopes end with leader__leave() */
void bperf_cgroups__delete(struct bperf_cgroups *cgroups);

/** bperf_cgroups__scopes() - their rows, by positions in the list; borrowed */
struct bperf_scopes *bperf_cgroups__scopes(struct bperf_cgroups *cgroups);

#endif

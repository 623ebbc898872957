/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_LEADER_SCOPES_H
#define PERF_UTIL_LEADER_SCOPES_H

/* Scopes of runs, from their making to their end. All of it needs the attr map's lock. */

#include "../bpf_skel/leader.h"

#include <stdbool.h>

struct leader;

/**
 * leader_scopes__add() - a row of this run, which counts nothing yet
 * @slots: of its events, ascending
 * @is_switches: per slot, enum switch_event
 * @cgroup: the kernel's number of the cgroup it will count; 0: tasks
 *
 * Return: its number; -ENOSPC, -E2BIG: too many scopes, events, sets.
 */
int leader_scopes__add(struct leader *leader, const __u16 *slots, const __u8 *is_switches, int nr,
		       bool inherits, __u64 cgroup);

/**
 * leader_scopes__remove() - no task or cgroup is counted for a run any more, its scopes are gone
 * leader_scopes__remove_kind() - the same of tasks, or of cgroups
 * @run: its number, or NO_RUN
 *
 * What cannot be removed is NO_RUN's from then on: whoever comes or goes tries it again.
 */
void leader_scopes__remove(struct leader *leader, int run);
void leader_scopes__remove_kind(struct leader *leader, int run, enum class_kind kind);

/** leader_scopes__repair() - remove the scopes of runs that died */
void leader_scopes__repair(struct leader *leader);

#endif

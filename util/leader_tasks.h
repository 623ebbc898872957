/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_LEADER_TASKS_H
#define PERF_UTIL_LEADER_TASKS_H

/*
 * Counting tasks with the leader: the links that exist only while somebody does, scopes and the
 * marks of their tasks. All but sync and the reading of sums needs the attr map's lock.
 */

#include "../bpf_skel/leader.h"

#include <stdbool.h>
#include <sys/types.h>

struct leader;

/**
 * leader_tasks__attach() - have switches, forks, execs and exits followed while this run lives
 *
 * Without any run that counts tasks nothing is attached to them; the first attaches, and clears
 * what is left of earlier ones. Return: 0 or -errno, without a message.
 */
int leader_tasks__attach(struct leader *leader);

/**
 * leader_tasks__add_scope() - a row of this run, which counts nothing yet
 * @slots: of its events, ascending
 * @is_switches: per slot, enum switch_event
 * @cgroup: the kernel's number of the cgroup it will count; 0: tasks
 *
 * Return: its number; -ENOSPC, -E2BIG: too many scopes, events, sets.
 */
int leader_tasks__add_scope(struct leader *leader, const __u16 *slots, const __u8 *is_switches,
			    int nr, bool inherits, __u64 cgroup);

/**
 * leader_tasks__mark() - have a scope count the tasks of a process, or one thread
 * @nr: number in our pid namespace
 * @is_changed: set when a task was found that was not marked yet
 *
 * A fork may have read its parent's class before we changed it, and write the child's after our
 * walk has passed; tasks that are not woken yet are waited for. So whoever marks tasks that run waits with leader_tasks__wait() when nothing
 * new is found, and marks again, until that finds nothing.
 * Return: how many tasks were found, 0: it has ended; or -errno without a message.
 */
int leader_tasks__mark(struct leader *leader, int scope, enum mark_kind kind, pid_t nr,
		       enum mark_when when, bool *is_changed);

/** leader_tasks__wait() - until every program that is running now has ended; 0 or -errno */
int leader_tasks__wait(void);

/**
 * leader_tasks__remove_scopes() - no task or cgroup is counted for a run any more, its scopes are gone
 * leader_tasks__remove_kind() - the same of tasks, or of cgroups
 * @run: its number, or NO_RUN
 *
 * What cannot be removed is NO_RUN's from then on: whoever comes or goes tries it again.
 */
void leader_tasks__remove_scopes(struct leader *leader, int run);
void leader_tasks__remove_kind(struct leader *leader, int run, enum class_kind kind);

/** leader_tasks__repair() - remove the scopes of runs that died */
void leader_tasks__repair(struct leader *leader);

/** leader_tasks__detach() - let go of links and memory */
void leader_tasks__detach(struct leader *leader);

/** leader_tasks__new_chunk() - a map of zeroed cells; a descriptor or -errno */
int leader_tasks__new_chunk(int nr_cpus);

/** leader_tasks__map() - map the tables; for leader__join(). 0 or -errno */
int leader_tasks__map(struct leader *leader);

/**
 * leader_tasks__sync() - charge what CPUs are running now
 * @is_wanted: asked for the class a CPU is running; NULL: all online CPUs
 *
 * Return: 0 or -errno.
 */
int leader_tasks__sync(struct leader *leader, bool (*is_wanted)(void *ctx, int class), void *ctx);

/** leader_tasks__lost() - failed reads, uncharged switches and unentered tasks so far, of all runs */
__u64 leader_tasks__lost(const struct leader *leader);

#endif

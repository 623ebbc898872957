/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_TASK_WALK_H
#define PERF_BPERF_TASK_WALK_H

/*
 * Walks over tasks to move them to other scope sets. All of it needs the lock of tasks.
 */

#include "bpf_skel/leader.h"

#include <stdbool.h>
#include <sys/types.h>

struct bperf_leader;

/**
 * task_walk__assign() - have a scope count the tasks of a process, or one thread
 * @nr: number in our pid namespace
 * @is_changed: set when a walk moved a task
 *
 * It waits for tasks that are not woken yet. A fork may have read the parent's scope set before a walk
 * changed it, and write the child's after the walk has passed. So when nothing new is found, the caller
 * waits with leader_sync__wait() and walks again, until that also finds nothing.
 * Return: how many tasks were found, 0: it has ended; or -errno without a message.
 */
int task_walk__assign(struct bperf_leader *leader, int scope, enum walk_kind kind, pid_t nr,
		      enum walk_when when, bool *is_changed);

/**
 * task_walk__begin_round() - from now on, note the CPUs that run tasks which task_walk__assign() finds
 * task_walk__sync() - charge the tasks that run on these CPUs
 *
 * A round that begins after leader_sync__wait() and changes nothing notes each CPU that may not know the new
 * scope set of its task. All others have looked it up since. Return: 0 or -errno.
 */
void task_walk__begin_round(struct bperf_leader *leader);
int task_walk__sync(struct bperf_leader *leader);

/** task_walk__begin() - begin an operation of its own: no transition is known */
void task_walk__begin(struct bperf_leader *leader, enum walk_when when);

/** task_walk__move() - have walks move tasks of a scope set to another, and keep those there */
void task_walk__move(struct bperf_leader *leader, __u32 from, __u32 to);

/** task_walk__all() - walk over all tasks until no task and no CPU is left to move. 0 or -errno */
int task_walk__all(struct bperf_leader *leader);

#endif

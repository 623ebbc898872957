/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_LEADER_MARKS_H
#define PERF_UTIL_LEADER_MARKS_H

/*
 * Marks: which class tasks are in, changed by walks over tasks that run. All of it needs the attr map's
 * lock.
 */

#include "../bpf_skel/leader.h"

#include <stdbool.h>
#include <sys/types.h>

struct leader;

/**
 * leader_marks__mark() - have a scope count the tasks of a process, or one thread
 * @nr: number in our pid namespace
 * @is_changed: set when a task was found that was not marked yet
 *
 * Tasks that are not woken yet are waited for. A birth may have read the parent's class before we
 * changed it, and write the child's after our walk has passed: so whoever marks tasks that run waits
 * with leader_tasks__wait() when nothing new is found, and marks again, until that finds nothing.
 * Return: how many tasks were found, 0: it has ended; or -errno without a message.
 */
int leader_marks__mark(struct leader *leader, int scope, enum mark_kind kind, pid_t nr,
		       enum mark_when when, bool *is_changed);

/** leader_marks__begin() - of another marking: no transition is known */
void leader_marks__begin(struct leader *leader, enum mark_when when);

/** leader_marks__move() - tasks of a class are to go to another; those which are there stay. 0 or -errno */
int leader_marks__move(struct leader *leader, __u32 from, __u32 to);

/** leader_marks__walk_all() - have all tasks go, until none is left that has to, nor any CPU. 0 or -errno */
int leader_marks__walk_all(struct leader *leader);

#endif

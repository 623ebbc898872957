/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_TASKS_H
#define PERF_BPERF_LEADER_TASKS_H

/*
 * Following tasks, clearing their tables, and counting losses. Functions that change something
 * need the lock of tasks.
 */

#include "bpf_skel/leader.h"

#include <stdbool.h>
#include <sys/types.h>

struct bperf_leader;

/**
 * leader_tasks__attach() - have switches, forks, execs and exits followed while this session lives
 *
 * Programs are attached to tasks only while a session counts tasks. The first such session attaches them.
 * It clears the tables if earlier ones died, or have left many entries. Return: 0 or -errno, without a message.
 */
int leader_tasks__attach(struct bperf_leader *leader);

/**
 * leader_tasks__purge() - clear the tables of tasks, after a time in which no program followed tasks
 *
 * Return: 0 or -errno.
 */
int leader_tasks__purge(struct bperf_leader *leader);

/** leader_tasks__max() - how many tasks the table of tasks has room for */
int leader_tasks__max(const struct bperf_leader *leader);

/** leader_tasks__lost() - switches that were not charged so far, of all sessions' tasks */
__u64 leader_tasks__lost(const struct bperf_leader *leader);

/** leader_tasks__missed() - new tasks of this session's scopes that no entry could be made for */
__u64 leader_tasks__missed(const struct bperf_leader *leader);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_LEADER_TASKS_H
#define PERF_UTIL_LEADER_TASKS_H

/*
 * Counting tasks with the leader: its tables, and the links that exist only while somebody does. All
 * but sync and the reading of sums needs the attr map's lock.
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
 * leader_tasks__purge() - forget what the tables say of tasks: nobody has followed them for a while
 *
 * Return: 0 or -errno.
 */
int leader_tasks__purge(struct leader *leader);

/** leader_tasks__wait() - until every program that is running now has ended; 0 or -errno */
int leader_tasks__wait(void);

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

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_SYNC_H
#define PERF_BPERF_LEADER_SYNC_H

/* Having CPUs bring their readings and sums up to date. */

#include "bpf_skel/leader.h"

#include <stdbool.h>
#include <stdint.h>

struct bperf_leader;

/**
 * leader_sync__cpu() - have a CPU read the events of a mask into its row
 * leader_sync__task() - have a CPU charge the task that it runs, if this process holds the program
 *
 * Return: 0; -ENXIO: the CPU is offline; other -errno.
 */
int leader_sync__cpu(const struct bperf_leader *leader, int cpu, const uint64_t mask[MASK_WORDS]);
int leader_sync__task(const struct bperf_leader *leader, int cpu);

/**
 * leader_sync__tasks() - charge the tasks that CPUs run now
 * leader_sync__cgroups() - charge the cgroups that CPUs run now
 * @is_wanted: decides by the scope set that a CPU runs; NULL: all online CPUs
 *
 * Return: 0 or -errno.
 */
int leader_sync__tasks(struct bperf_leader *leader, bool (*is_wanted)(void *ctx, int scope_set),
		       void *ctx);
int leader_sync__cgroups(struct bperf_leader *leader, bool (*is_wanted)(void *ctx, int scope_set),
			 void *ctx);

/** leader_sync__wait() - wait for a grace period: all programs that run now have ended; 0 or -errno */
int leader_sync__wait(void);

/**
 * leader_sync__readings() - copy readings of one CPU, all from the same sync
 * @slots: which
 * @out: @nr readings; all with the error EAGAIN if the CPU is always in the middle of a sync
 */
void leader_sync__readings(const struct bperf_leader *leader, int cpu, const int *slots, int nr,
			   struct event_reading *out);

#endif

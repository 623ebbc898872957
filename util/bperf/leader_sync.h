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

/* Return: whether a CPU in this state needs a sync, which interrupts it. */
typedef bool (*leader_sync__filter)(void *ctx, const struct cpu_state *state);

/**
 * leader_sync__tasks() - charge the tasks that CPUs run now
 * leader_sync__cgroups() - charge the cgroups that CPUs run now
 * leader_sync__changed_cgroups() - the same on CPUs that still charge another scope set than they should
 *
 * The last one must come a grace period after the change: other CPUs find it by themselves.
 *
 * Return: 0 or -errno.
 */
int leader_sync__tasks(struct bperf_leader *leader, leader_sync__filter is_wanted, void *ctx);
int leader_sync__cgroups(struct bperf_leader *leader, leader_sync__filter is_wanted, void *ctx);
int leader_sync__changed_cgroups(struct bperf_leader *leader);

/**
 * leader_sync__scope_set() - read the scope set whose task a CPU runs, while its sums are complete
 *
 * The CPU may have left a scope set whose sums are still on their way to us. Return: false: it is always in
 * the middle of a change, as when the host of a virtual machine has taken the CPU away.
 */
bool leader_sync__scope_set(const struct cpu_state *state, __u32 *scope_set);

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

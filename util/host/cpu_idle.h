/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_CPU_IDLE_H
#define PERF_HOST_CPU_IDLE_H

/* For how long CPUs have been idle: /proc/stat, as in proc_stat(5). */

#include <stdint.h>

/** cpu_idle__step_ns() - the kernel tells idle times in steps of a clock tick (10 ms) */
uint64_t cpu_idle__step_ns(void);

/**
 * cpu_idle__read() - the time since boot in which each CPU ran nothing, also while tasks waited for I/O
 * @idle_ns: of the CPUs 0 to @nr - 1; 0: unknown, as that of an offline CPU
 *
 * Below procfs_root(). Return: 0; -errno, with all times unknown.
 */
int cpu_idle__read(uint64_t *idle_ns, int nr);

/** cpu_idle__between() - the time between two readings of a CPU; -1: unknown */
int64_t cpu_idle__between(uint64_t from_ns, uint64_t to_ns);

#endif

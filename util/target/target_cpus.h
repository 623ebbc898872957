/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TARGET_TARGET_CPUS_H
#define PERF_TARGET_TARGET_CPUS_H

/* The CPUs of a target: those of -C that are online. */

struct cpumap;
struct target;

/**
 * target_cpus__find() - find the CPUs to measure
 * @cpus: set to a list of the caller's, NULL for tasks
 *
 * @why: set to a line of the caller's, without a line end, if no CPU of -C is online, else NULL
 *
 * Warns of CPUs that are offline and left out.
 *
 * Return: 0; -ENODEV with @why; -EINVAL, -ENODEV or -ENOMEM after a message.
 */
int target_cpus__find(const struct target *target, struct cpumap **cpus, char **why);

#endif

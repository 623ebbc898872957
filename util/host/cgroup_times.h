/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_CGROUP_TIMES_H
#define PERF_HOST_CGROUP_TIMES_H

/* The kernel's clocks of cgroups, by which it gives the times of their perf events. */

struct cpumap;

/* {}: not running */
struct cgroup_times {
	int *fds; /* of an event on each CPU; -1: none */
	int nr;
};

/**
 * cgroup_times__start() - have the kernel keep times of all cgroups on these CPUs
 * @dir: directory of any cgroup
 *
 * Without that, an event of a cgroup that is enabled has wrong times, such as 0 or those since the boot. They
 * are right from its CPU's next switch between cgroups on. Seen on 6.12, 6.18 and 7.3. So an event
 * that counts nothing is enabled on each CPU, and each CPU is made to switch once. It takes some
 * milliseconds on busy CPUs. Errors are ignored: counts are right without it.
 */
void cgroup_times__start(struct cgroup_times *times, const char *dir, const struct cpumap *cpus);

/** cgroup_times__stop() - close these events, also if there are none */
void cgroup_times__stop(struct cgroup_times *times);

#endif

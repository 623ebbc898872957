/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LATE_CPUS_H
#define PERF_BPERF_LATE_CPUS_H

/*
 * CPUs that were added after the leader was made, with a number for which it has no room. Nothing that runs
 * there is counted until all sessions have ended. A new session counts with events of its own if it needs
 * such a CPU. Sessions that are there already warn.
 */

struct bperf_leader;
struct cpumap;

/** late_cpus__online() - those that are online now; may be empty, owned by the caller; NULL with errno set */
struct cpumap *late_cpus__online(struct bperf_leader *leader);

/**
 * late_cpus__next() - one that has come online since the last call of this or of late_cpus__online()
 *
 * No system call. Return: its number; -1: none has.
 */
int late_cpus__next(struct bperf_leader *leader);

/** late_cpus__text() - the reason not to count a CPU, for a message; NULL: out of memory */
char *late_cpus__text(int cpu);

#endif

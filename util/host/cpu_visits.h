/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_CPU_VISITS_H
#define PERF_HOST_CPU_VISITS_H

/* Short visits to CPUs, which have each of them switch. */

struct cpumap;

/**
 * cpu_visits__make() - have a thread execute on each of these CPUs once, in this order
 *
 * The thread blocks all signals, and is over when this returns. At the end, each CPU has switched to a thread of
 * the kernel and back, if there is more than one.
 *
 * There are no visits if memory is short. A CPU has none if perf may not execute there (cpuset, offline). A visit is
 * given up if the CPU gives the thread no time for a tenth of a second (a real-time task).
 */
void cpu_visits__make(const struct cpumap *cpus);

#endif

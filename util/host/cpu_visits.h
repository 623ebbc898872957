/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_CPU_VISITS_H
#define PERF_HOST_CPU_VISITS_H

/* Requests to the kernel that have to be made on certain CPUs. */

struct cpumap;

/**
 * cpu_visits__make() - call a function once for each of these CPUs, in this order and on this CPU
 *
 * The calls are made by a thread that blocks all signals, and are over when this returns. At the end, each
 * CPU has switched to a thread of the kernel and back, if there is more than one.
 *
 * The function is called from another CPU if perf may not execute there (cpuset, offline) or has no memory.
 * So it is if the CPU gives the thread no time for a tenth of a second (a real-time task).
 */
void cpu_visits__make(const struct cpumap *cpus, void (*fn)(void *ctx, int cpu), void *ctx);

#endif

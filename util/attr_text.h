/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_ATTR_TEXT_H
#define PERF_UTIL_ATTR_TEXT_H

/* Events the other way round: from what the kernel is told to what people say. */

struct perf_event_attr;
struct pmus;

/**
 * attr_text() - an event as -e takes it: "cpu-cycles:u", "sched:sched_switch", "pmu/event/"
 * @attr: canonical, as keys of the attr map are
 * @pmus: the machine's; NULL: numbers for events of sysfs
 *
 * Return: owned by the caller; NULL with errno ENOMEM.
 */
char *attr_text(const struct perf_event_attr *attr, struct pmus *pmus);

/**
 * attr_pmu_text() - what counts an event: "software", "tracepoint", or the name of its PMU
 *
 * Return: owned by the caller; NULL with errno ENOMEM.
 */
char *attr_pmu_text(const struct perf_event_attr *attr, struct pmus *pmus);

#endif

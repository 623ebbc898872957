/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_ATTR_TEXT_H
#define PERF_EVENT_ATTR_TEXT_H

/* The attr of an event, turned back into the text of -e. */

struct perf_event_attr;
struct pmus;

/**
 * attr_text() - an event as -e accepts it: "cpu-cycles:u", "sched:sched_switch", "pmu/event/", "dummy/config3=0x1/"
 * @attr: canonical, as keys of the attr map are; attr->size bytes of it are read
 * @pmus: the machine's; NULL: events of sysfs become numbers
 *
 * Return: owned by the caller; NULL with errno ENOMEM.
 */
char *attr_text(const struct perf_event_attr *attr, struct pmus *pmus);

/**
 * attr_pmu_text() - the PMU of an event: "software", "tracepoint", or the name of its PMU
 *
 * Return: owned by the caller; NULL with errno ENOMEM.
 */
char *attr_pmu_text(const struct perf_event_attr *attr, struct pmus *pmus);

#endif

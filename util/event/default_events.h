/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_DEFAULT_EVENTS_H
#define PERF_EVENT_DEFAULT_EVENTS_H

/* The default events of perf stat: those of the default metrics. */

#include <stdbool.h>

struct evlist;
struct pmus;

/**
 * default_events__add() - append the default set in the order of its rows
 * @cpu_target: for CPUs the clock is cpu-clock, otherwise task-clock
 * @detail: how often -d was given; more than 3 is 3
 *
 * Software events come first, then those of the core PMU; groups are in the byte order of their
 * leaders' names. Events without a default metric are hidden. stalled-cycles-backend has a second
 * row, in the group led by instructions, for stalled_cycles_per_instruction. All events are marked
 * is_default. The shown cpu-cycles also gets keep_row: this row stays on a machine without PMU.
 *
 * Return: 0 or -errno.
 */
int default_events__add(struct evlist *list, struct pmus *pmus, bool cpu_target, int detail);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_DEFAULT_EVENTS_H
#define PERF_UTIL_DEFAULT_EVENTS_H

/* What perf stat counts when it is told nothing: the events of the default metrics. */

#include <stdbool.h>

struct evlist;
struct pmus;

/**
 * default_events__add() - append the default set in the order of its rows
 * @cpu_target: CPUs are measured: the clock is cpu-clock, else task-clock
 * @detail: how often -d was given; more than 3 is 3
 *
 * Software events come first, then those of the core PMU; within these, groups are in the byte
 * order of their leaders' names. Events that carry no default metric of their own are hidden.
 * stalled-cycles-backend has a second row for stalled_cycles_per_instruction: the one in the group
 * led by instructions. All are marked is_default; the shown cpu-cycles has keep_row, too: this one
 * row stays when the machine has no PMU.
 *
 * Return: 0 or -errno.
 */
int default_events__add(struct evlist *list, struct pmus *pmus, bool cpu_target, int detail);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_REGROUP_H
#define PERF_UTIL_REGROUP_H

/* Groups the kernel would refuse, made into groups it takes. */

#include <stdbool.h>

struct event_creation;
struct evlist;

/**
 * regroup__split() - make groups of the events from @first on: one for each PMU among them
 * @weak: the groups may be dissolved
 * @name: of the group as typed, NULL: none
 * @changed: set when the user's order or grouping is not kept
 *
 * Software events go with the first other PMU; tool events stand alone. If one event is shared
 * all are. Return: 0 or -ENOMEM.
 */
int regroup__split(struct evlist *list, int first, bool weak, const char *name, bool *changed);

/**
 * regroup__topdown() - put Intel's topdown events from @first on behind a "slots" leader
 *
 * Slots are added, hidden, where they are missing. Return: 0 or -errno.
 */
int regroup__topdown(struct event_creation *c, int first);

#endif

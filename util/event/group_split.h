/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_GROUP_SPLIT_H
#define PERF_EVENT_GROUP_SPLIT_H

/* Groups across PMUs, split into groups that the kernel accepts. */

#include <stdbool.h>

struct event_expansion;
struct evlist;

/**
 * group_split__split() - group the events from @first on, with one group per PMU
 * @weak: the groups may be dissolved
 * @name: the typed name of the group; NULL: none
 * @changed: set if the user's order or grouping changes
 *
 * Software events join the first other PMU's group; tool events stand alone. If one event is
 * shared, all are. Return: 0 or -ENOMEM.
 */
int group_split__split(struct evlist *list, int first, bool weak, const char *name, bool *changed);

/**
 * group_split__topdown() - make "slots" the leader of Intel's topdown events from @first on
 *
 * Adds missing slots, hidden. Return: 0 or -errno.
 */
int group_split__topdown(struct event_expansion *c, int first);

#endif

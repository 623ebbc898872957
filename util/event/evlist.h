/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_EVLIST_H
#define PERF_EVENT_EVLIST_H

/* The ordered list of events. */

#include "util/event/evsel.h"

/* Owns the events. Members of a group follow their leader. */
struct evlist {
	struct evsel **evsels;
	int nr;
};

#define evlist__for_each(list, pos, i)                                                             \
	for ((i) = 0; (i) < (list)->nr && ((pos) = (list)->evsels[i]); (i)++)

struct evlist *evlist__new(void);
void evlist__delete(struct evlist *list);

/** evlist__add() - append an event, which the list then owns; sets its idx. 0 or -ENOMEM */
int evlist__add(struct evlist *list, struct evsel *evsel);

/** evlist__group() - make the @nr events from @first on a group led by the first */
void evlist__group(struct evlist *list, int first, int nr);

/** evlist__ungroup() - dissolve the group of @leader */
void evlist__ungroup(struct evlist *list, struct evsel *leader);

/**
 * evlist__repeat() - append the first @nr events once more, for another cgroup
 * @nr: does not cut a group. Merging and grouping are repeated among the new events
 *
 * Return: the position of the first new one, or -ENOMEM.
 */
int evlist__repeat(struct evlist *list, int nr, const struct cgroup *cgroup);

/** evlist__truncate() - delete all events from position @nr */
void evlist__truncate(struct evlist *list, int nr);

/**
 * evlist__move() - move an event to an earlier position
 * @from: its position
 * @to: its new position, not behind @from
 */
void evlist__move(struct evlist *list, int from, int to);

/**
 * evlist__set_filter() - put a tracepoint filter on the events of the last -e
 * @first: position of the first event of that -e; the number of events if there is none
 * @filter: text in the kernel's filter language; joined to an earlier one as "(a) && (b)"
 *
 * Return: 0; -EINVAL after a message: no event, or one is not a tracepoint; -ENOMEM.
 */
int evlist__set_filter(struct evlist *list, int first, const char *filter);

/**
 * evlist__only_level() - --all-user (@user) or --all-kernel: overrides the u and k of every event
 *
 * Printed names stay as they are.
 */
void evlist__only_level(struct evlist *list, bool user);

/**
 * evlist__uniquify_names() - put the PMU into ambiguous names
 * @no_merge: each PMU instance gets a row of its own (-A, --no-merge)
 *
 * Call once, when the list is complete. With @no_merge it changes every event without name= and
 * without a generic type (software, tracepoints, ...), unless all are on one core PMU. Otherwise it
 * changes events with equal names on different PMUs that are not summed into one row.
 * Return: 0 or -ENOMEM.
 */
int evlist__uniquify_names(struct evlist *list, bool no_merge);

/** evlist__group_text() - "NAME { a, b }" or "anon group { a, b }", for messages; owned */
char *evlist__group_text(const struct evlist *list, const struct evsel *leader);

/**
 * evlist__check_groups() - take members out of groups whose leader is counted on other CPUs
 *
 * Call when ->cpus of all events is set. Warns of each such group.
 */
void evlist__check_groups(struct evlist *list);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_EVLIST_H
#define PERF_UTIL_EVLIST_H

#include "evsel.h"

/* The ordered list of events; owns them. Members of a group follow their leader. */
struct evlist {
	struct evsel **evsels;
	int nr;
	int cap;
};

#define evlist__for_each(list, pos, i)                                                             \
	for ((i) = 0; (i) < (list)->nr && ((pos) = (list)->evsels[i]); (i)++)

struct evlist *evlist__new(void);
void evlist__delete(struct evlist *list);

/** evlist__add() - append an event, which the list then owns; sets its idx. 0 or -ENOMEM */
int evlist__add(struct evlist *list, struct evsel *evsel);

/** evlist__group() - make the @nr events from @first on a group led by the first */
void evlist__group(struct evlist *list, int first, int nr);

/** evlist__ungroup() - dissolve the group of @leader: every member stands alone */
void evlist__ungroup(struct evlist *list, struct evsel *leader);

/**
 * evlist__repeat() - append the first @nr events once more, for another cgroup
 * @nr: no group is cut; the events of them that are merged or grouped are so among themselves
 *
 * Return: the position of the first new one, or -ENOMEM.
 */
int evlist__repeat(struct evlist *list, int nr, const struct cgroup *cgroup);

/** evlist__truncate() - delete the events from position @nr on */
void evlist__truncate(struct evlist *list, int nr);

/**
 * evlist__move() - move an event to an earlier place; the events between give way
 * @from: its position
 * @to: where it goes, not behind @from
 */
void evlist__move(struct evlist *list, int from, int to);

/**
 * evlist__set_filter() - put a tracepoint filter on the events of the last -e
 * @first: position of the first event of that -e; the number of events when there was none
 * @filter: text in the kernel's filter language; joined to an earlier one as "(a) && (b)"
 *
 * Return: 0; -EINVAL after a message: no event before it, or one is no tracepoint; -ENOMEM.
 */
int evlist__set_filter(struct evlist *list, int first, const char *filter);

/**
 * evlist__only_level() - --all-user (@user) or --all-kernel: overrides the u and k of every event
 *
 * Printed names stay as they are.
 */
void evlist__only_level(struct evlist *list, bool user);

/**
 * evlist__uniquify_names() - put the PMU into names that would mislead without it
 * @no_merge: each PMU instance gets a row of its own (-A, --no-merge)
 *
 * Call once, when the list is complete. With @no_merge that is every event without name= whose
 * type is no generic one (software, tracepoints, ...), unless all are of one core PMU; else events
 * of equal names on different PMUs that are not summed into one row. Return: 0 or -ENOMEM.
 */
int evlist__uniquify_names(struct evlist *list, bool no_merge);

/**
 * evlist__check_groups() - take members out of groups whose leader is counted on other CPUs
 *
 * Call when the plan has set ->cpus of all events; warns, naming the group.
 */
void evlist__check_groups(struct evlist *list);

#endif

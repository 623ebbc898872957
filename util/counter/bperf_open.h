/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_COUNTER_BPERF_OPEN_H
#define PERF_COUNTER_BPERF_OPEN_H

/* Open the shared events of one session. */

#include "bpf_skel/leader.h"

#include <stdbool.h>

struct bperf;
struct bpf_counter;
struct evsel;

/** bperf__open_events() - open the plan's events that are UNOPENED. Return: 0, or -errno after a message */
int bperf__open_events(struct bperf *bperf);

/** bperf__otherwise() - the end of warnings: how the session goes on without sharing */
const char *bperf__otherwise(const struct bperf *bperf);

/** bperf__is_only_shared() - whether the session has no other way to count its events */
bool bperf__is_only_shared(const struct bperf *bperf);

/**
 * bperf__leave_for_room() - warn that a table of all sessions is full
 * @why: owned; NULL: out of memory
 *
 * Only a session that cannot count otherwise (-b) is refused. A series of repeats warns once.
 * Return: the error of open().
 */
int bperf__leave_for_room(const struct bperf *bperf, char *why);

/** bperf_evsel__refuse() - an event is not counted; @err is negative */
void bperf_evsel__refuse(struct evsel *evsel, int err);

/**
 * bpf_counter__collect_slots() - list the slots of the events of one kind of target
 * @slots, @evsels: on return, each slot once, with one of its events
 *
 * An event given twice is one to the leader. Sets the position of each event in the list.
 * Return: how many.
 */
int bpf_counter__collect_slots(const struct bpf_counter *self, int slots[MAX_EVENTS],
			       const struct evsel *evsels[MAX_EVENTS]);

#endif

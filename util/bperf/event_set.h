/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_EVENT_SET_H
#define PERF_BPERF_EVENT_SET_H

/* Sets of events, named by number in scope sets and scopes. */

#include "util/bperf/scope_tables.h"

/** event_set__room() - return the number below which sets are made; a table has MAX_SETS, and a test may allow fewer */
int event_set__room(const struct scope_tables *c);

/**
 * event_set__add() - the set of events, made if there is none like it
 * @slots: ascending
 * @is_switches: per slot, enum switch_event
 *
 * Return: its number; -E2BIG: more than SET_EVENTS; -ENOSPC.
 */
int event_set__add(struct scope_tables *c, const __u16 *slots, const __u8 *is_switches, int nr);

/**
 * event_set__union() - the set of the events of two sets, made if there is none like it
 *
 * Until something names it, another set that is made may take its place.
 * Return: its number; -E2BIG, -ENOSPC.
 */
int event_set__union(struct scope_tables *c, int a, int b);

/** event_set__contains() - whether all events of the set @events are in @set */
bool event_set__contains(const struct scope_tables *c, int set, int events);

#endif

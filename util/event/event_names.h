/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_EVENT_NAMES_H
#define PERF_EVENT_EVENT_NAMES_H

/* Names of events on every machine: generic hardware, cache, software and tool events. */

#include <stdbool.h>
#include <stdint.h>

/* One event; tables end with a row without a name. */
struct event_name {
	const char *name;  /* as perf list prints it */
	const char *alias; /* second name, or NULL */
	uint64_t config;   /* attr.config; of tool events an enum tool_event */
	const char *desc;  /* for perf list, or NULL */
};

extern const struct event_name hw_events[];
extern const struct event_name sw_events[];
extern const struct event_name tool_events[]; /* of this architecture */

/**
 * legacy_event__find() - look up a generic hardware or cache name, ignoring case
 * @name: e.g. "cycles", "L1-dcache-load-misses"
 * @type: receives PERF_TYPE_HARDWARE or PERF_TYPE_HW_CACHE
 * @config: receives attr.config, without a PMU type in its upper half
 *
 * Return: whether it is such a name; aliases give equal results.
 */
bool legacy_event__find(const char *name, uint32_t *type, uint64_t *config);

/** event_name__find() - the row of a table with that name or alias, ignoring case; or NULL */
const struct event_name *event_name__find(const struct event_name *table, const char *name);

/**
 * cache_event__next() - walk the canonical cache events
 * @pos: 0 to begin; advanced by each call
 * @name: receives the name, e.g. "LLC-store-misses"
 * @config: receives attr.config
 *
 * Return: false after the last one.
 */
#define CACHE_NAME_MAX 40
bool cache_event__next(int *pos, char name[CACHE_NAME_MAX], uint64_t *config);

#endif

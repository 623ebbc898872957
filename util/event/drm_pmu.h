/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_DRM_PMU_H
#define PERF_EVENT_DRM_PMU_H

/*
 * Work and memory of GPU clients, which drivers report in /proc/PID/fdinfo (the kernel's
 * Documentation/gpu/drm-usage-stats.rst). The PMU drm_DRIVER has an event for each key of its clients.
 */

#include <stdbool.h>
#include <stdint.h>

struct thread_map;

/* Keys that begin alike. */
struct drm_kind {
	const char *prefix;
	const char *what;
	const char *unit;
	bool adds_up; /* an amount so far; otherwise the value of the moment */
};

/** drm_pmu__kind() - the kind of a key such as "drm-engine-render"; NULL: it has no value to count */
const struct drm_kind *drm_pmu__kind(const char *key);

/**
 * drm_pmu__for_each_key() - call @fn for the keys of all clients of all processes that one may see
 * @fn: may get the same driver and key several times; a nonzero result ends the walk
 *
 * Return: the last result of @fn, or -ENOMEM.
 */
int drm_pmu__for_each_key(int (*fn)(void *data, const char *driver, const char *key), void *data);

/**
 * drm_pmu__value() - the sum of a key over the clients of a driver, each client once
 * @threads: of these processes; NULL: of all
 * @value: receives ns, bytes, Hz or a number; 0 without clients
 *
 * Return: 0 or -ENOMEM.
 */
int drm_pmu__value(const char *driver, const char *key, const struct thread_map *threads,
		   uint64_t *value);

#endif

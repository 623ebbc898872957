/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_CPUMAP_H
#define PERF_HOST_CPUMAP_H

/* A sorted set of CPU numbers. */

#include <stdbool.h>

/* Constant once made. The one-element map {-1} means "any CPU". */
struct cpumap {
	int nr;
	int cpu[];
};

/**
 * cpumap__parse() - read a list such as "0-3,6" (sysfs and -C syntax)
 * @text: the list; a trailing newline is tolerated
 *
 * No blanks, ascending ranges, no duplicates.
 * Return: the map, owned by the caller; NULL with errno EINVAL (syntax) or ENOMEM.
 */
struct cpumap *cpumap__parse(const char *text);

/** cpumap__why_refused() - why cpumap__parse() refuses a list; owned, NULL without memory */
char *cpumap__why_refused(const char *text);

/** cpumap__new() - a map of @nr CPUs copied from a sorted array; NULL with errno ENOMEM */
struct cpumap *cpumap__new(const int *cpus, int nr);
struct cpumap *cpumap__dup(const struct cpumap *map);
void cpumap__delete(struct cpumap *map);

/** cpumap__any() - the map {-1}; static, and cpumap__delete() ignores it */
struct cpumap *cpumap__any(void);

/** cpumap__online(), cpumap__possible(), cpumap__present() - from sysfs; NULL with errno set */
struct cpumap *cpumap__online(void);
struct cpumap *cpumap__possible(void);
struct cpumap *cpumap__present(void);

bool cpumap__has(const struct cpumap *map, int cpu);
bool cpumap__is_any(const struct cpumap *map);
bool cpumap__equal(const struct cpumap *a, const struct cpumap *b);

/** cpumap__idx() - position of a CPU in the map, -1 if absent */
int cpumap__idx(const struct cpumap *map, int cpu);

/** cpumap__max() - the highest CPU number */
int cpumap__max(const struct cpumap *map);

/** cpumap__and() - the CPUs in both; may be empty (nr 0); NULL with errno ENOMEM */
struct cpumap *cpumap__and(const struct cpumap *a, const struct cpumap *b);

/** cpumap__minus() - the CPUs of @a that are not in @b; may be empty; NULL with errno ENOMEM */
struct cpumap *cpumap__minus(const struct cpumap *a, const struct cpumap *b);

/** cpumap__or() - the CPUs of either; NULL with errno ENOMEM */
struct cpumap *cpumap__or(const struct cpumap *a, const struct cpumap *b);

/** cpumap__str() - "0-3,6", owned by the caller */
char *cpumap__str(const struct cpumap *map);

#endif

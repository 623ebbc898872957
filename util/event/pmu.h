/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_PMU_H
#define PERF_EVENT_PMU_H

/*
 * The list of the machine's PMUs. These are the PMUs in sysfs (bus/event_source/devices), "software",
 * "tool", and the chips with sensors (class/hwmon).
 */

#include "util/event/pmu_name.h"
#include "util/event/pmu_sysfs.h"

#include <stdbool.h>
#include <stdint.h>

struct definitions;
struct pmus;

/**
 * pmus__new() - find the machine's PMUs
 * @sysfs: root of sysfs, e.g. sysfs_root()
 *
 * Core PMUs come first, instances of a family in the order of their numbers. Formats and events
 * are read when first needed. Return: NULL with errno set; a machine without PMUs is not an error.
 */
struct pmus *pmus__new(const char *sysfs);
void pmus__delete(struct pmus *pmus);

/**
 * pmus__set_definitions() - also give PMUs the events that files define
 * @defs: borrowed for the life of @pmus
 *
 * Call before the first lookup of an event. Names in sysfs keep their meaning.
 */
void pmus__set_definitions(struct pmus *pmus, struct definitions *defs);

/** pmus__find() - by exact name or alias; NULL: none. Borrowed from @pmus */
struct pmu *pmus__find(struct pmus *pmus, const char *name);
struct pmu *pmus__find_type(struct pmus *pmus, uint32_t type);

/**
 * pmus__load_drm() - also find the GPU drivers that have clients now, as PMUs
 *
 * It reads files of all processes, so it waits until a name or a list asks for it. Only the first
 * call does anything.
 */
void pmus__load_drm(struct pmus *pmus);

/** pmus__core() - the first core PMU; NULL: none */
struct pmu *pmus__core(struct pmus *pmus);

/** pmus__nr_core() - number of core PMUs; more than 1 on heterogeneous machines */
int pmus__nr_core(const struct pmus *pmus);

/** pmus__next() - iterate: NULL gives the first; NULL after the last */
struct pmu *pmus__next(struct pmus *pmus, const struct pmu *prev);

/**
 * pmus__set_cputype() - --cputype: keep one core PMU
 * @name: its name, with or without "cpu_"
 * pmus__set_filter() - --pmu-filter: keep one PMU; software and tool events stay
 *
 * Both affect events that are parsed later and do not name their PMU.
 * Return: 0, or -ENOENT: no such PMU.
 */
int pmus__set_cputype(struct pmus *pmus, const char *name);
int pmus__set_filter(struct pmus *pmus, const char *name);

/** pmus__is_kept() - false when --cputype or --pmu-filter leaves this PMU out, or all its CPUs are offline */
bool pmus__is_kept(const struct pmus *pmus, const struct pmu *pmu);

/**
 * pmus__with_event() - the PMUs that have a named event, ignoring case
 * @nr: receives their number
 *
 * Ignores generic hardware and cache names. Return: an array owned by @pmus, in the order of
 * pmus__next(); NULL with *nr 0 also if memory runs out.
 */
struct pmu *const *pmus__with_event(struct pmus *pmus, const char *name, int *nr);

#endif

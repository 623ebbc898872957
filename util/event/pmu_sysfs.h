/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_PMU_SYSFS_H
#define PERF_EVENT_PMU_SYSFS_H

/* The formats and events of a PMU, read from its directory when first needed. */

#include <stdbool.h>
#include <stdint.h>

struct definitions;
struct thread_map;
struct event_def;
struct pmu;
struct pmu_priv;

/* A term of a PMU, and the bits for its value. */
struct pmu_format {
	char *name;
	int word;      /* 0: attr.config, 1: attr.config1, ... 4 */
	uint64_t mask; /* the value's bits go to the set bits, lowest first */
};

#define PMU_UNIT_MAX 31 /* bytes of a unit's text */

/* A named event of a PMU. */
struct pmu_event {
	char *name;		     /* the file's name */
	char *terms;		     /* e.g. "event=0x3c,umask=0x1" */
	char unit[PMU_UNIT_MAX + 1]; /* "" if none is given */
	double scale;		     /* printed value = count * scale; 1.0 if none is given */
	bool has_scale;
	bool per_pkg;		     /* count once per package and die */
	bool snapshot;		     /* gauge */
	const char *alias;	     /* second name, or NULL; software and sensors only */
	const char *desc;	     /* text for perf list, or NULL */
	const struct event_def *def; /* its definition in a file; NULL: sysfs */
	bool is_read;		     /* private: this event's files have been read */
};

/**
 * pmu_sysfs__new() - the part of a PMU that is read when first needed
 * @pmu: its PMU; borrowed
 * @dir: sysfs directory, passed on; NULL for a PMU without one
 *
 * Return: NULL with errno ENOMEM; the caller then keeps @dir.
 */
struct pmu_priv *pmu_sysfs__new(const struct pmu *pmu, char *dir);
void pmu_sysfs__delete(struct pmu_priv *priv);

/** pmu_sysfs__set_definitions() - also use events that files define; borrowed */
void pmu_sysfs__set_definitions(struct pmu_priv *priv, struct definitions *defs);

/** pmu__format() - the format of that name, or NULL; pmu__next_format() iterates (NULL: first) */
const struct pmu_format *pmu__format(const struct pmu *pmu, const char *name);
const struct pmu_format *pmu__next_format(const struct pmu *pmu, const struct pmu_format *prev);

/** pmu__event() - the event of that name or alias, ignoring case, or NULL. Borrowed */
const struct pmu_event *pmu__event(const struct pmu *pmu, const char *name);

/** pmu__next_event() - iterate in the order of names: NULL gives the first; NULL after the last */
const struct pmu_event *pmu__next_event(const struct pmu *pmu, const struct pmu_event *prev);

/**
 * pmu_sysfs__add_drm() - add an event for a key of a GPU driver, unless it is there
 * pmu_sysfs__finish_drm() - call after the last one
 *
 * Return: 0 or -ENOMEM.
 */
int pmu_sysfs__add_drm(struct pmu_priv *priv, const char *key);
int pmu_sysfs__finish_drm(struct pmu_priv *priv);

/** pmu__drm() - the value of a GPU driver's event; see drm_pmu__value() */
int pmu__drm(const struct pmu *pmu, uint64_t config, const struct thread_map *threads,
	     uint64_t *value);

/** pmu__sensor() - the value of a sensor; see hwmon_pmu__read() */
int pmu__sensor(const struct pmu *pmu, uint64_t config, uint64_t *value);

/**
 * pmu__has_identifier() - whether the PMU's "identifier" matches a pattern (cpuid__matches())
 * @pattern: NULL matches all
 */
bool pmu__has_identifier(const struct pmu *pmu, const char *pattern);

#endif

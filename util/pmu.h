/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_PMU_H
#define PERF_UTIL_PMU_H

/*
 * PMUs as sysfs describes them (bus/event_source/devices), plus "software" and "tool", plus the
 * chips with sensors (class/hwmon).
 */

#include <stdbool.h>
#include <stdint.h>

struct cpumap;
struct definitions;
struct event_def;
struct pmus;

/* attr.type of the PMU "tool", which the kernel does not know; it never gets such an attr. */
#define PMU_TYPE_TOOL 0xfffffffeU

/* Those of chips with sensors: this one and the following. */
#define PMU_TYPE_HWMON 0xffff0000U

struct pmu {
	char *name;
	char *alias;		/* second name, or NULL */
	uint32_t type;		/* attr.type */
	bool is_core;		/* counts what CPUs do: cpu, cpum_cf, or has a "cpus" file */
	bool is_uncore;		/* has a "cpumask" file */
	bool is_hwmon;		/* a chip; its events are files, which the kernel does not count */
	struct cpumap *cpus;	/* of "cpus" or "cpumask"; NULL: all CPUs */
	int max_precise;	/* caps/max_precise; -1: unknown */
	/* private to pmu*.c */
	struct pmu_priv *priv;	/* formats, events, directory */
	int idx;		/* position among the PMUs */
};

/* A term of a PMU: where the bits of its value go. */
struct pmu_format {
	char *name;
	int word;		/* 0: attr.config, 1: attr.config1, ... 4 */
	uint64_t mask;		/* the value's bits go to the ones in here, lowest first */
};

#define PMU_UNIT_MAX 31		/* bytes of a unit's text */

/* A named event of a PMU. */
struct pmu_event {
	char *name;		/* as the file is called */
	char *terms;		/* e.g. "event=0x3c,umask=0x1" */
	char unit[PMU_UNIT_MAX + 1];	/* "" when none is given */
	double scale;		/* printed value = count * scale; 1.0 when none is given */
	bool has_scale;
	bool per_pkg;		/* count once per package and die */
	bool snapshot;		/* gauge */
	const char *alias;	/* second name, or NULL; software and sensors only */
	const char *desc;	/* text for perf list, or NULL */
	const struct event_def *def;	/* the definition in a file that made it; NULL: sysfs */
	bool is_read;		/* private: files of this event have been read */
};

/**
 * pmus__new() - find the machine's PMUs
 * @sysfs: root of sysfs, e.g. sysfs_root()
 *
 * Core PMUs come first, instances of a family in the order of their numbers. Formats and events
 * are read when first asked for. Return: NULL with errno set; a machine without PMUs is no error.
 */
struct pmus *pmus__new(const char *sysfs);
void pmus__delete(struct pmus *pmus);

/**
 * pmus__set_definitions() - let PMUs have the events that files define, too
 * @defs: borrowed for the life of @pmus
 *
 * Call before an event is looked for. Names that sysfs has keep that meaning.
 */
void pmus__set_definitions(struct pmus *pmus, struct definitions *defs);

/** pmus__find() - by exact name or alias; NULL when there is none. Borrowed from @pmus */
struct pmu *pmus__find(struct pmus *pmus, const char *name);
struct pmu *pmus__find_type(struct pmus *pmus, uint32_t type);

/** pmus__core() - the first core PMU, NULL when the machine has none */
struct pmu *pmus__core(struct pmus *pmus);

/** pmus__nr_core() - core PMUs there are; more than one: a heterogeneous machine */
int pmus__nr_core(const struct pmus *pmus);

/** pmus__next() - iterate: NULL gives the first; NULL after the last */
struct pmu *pmus__next(struct pmus *pmus, const struct pmu *prev);

/**
 * pmus__set_cputype() - --cputype: keep one core PMU
 * @name: its name, with or without "cpu_"
 * pmus__set_filter() - --pmu-filter: keep one PMU; software and tool events stay
 *
 * Both act on what is parsed afterwards and not on events that name their PMU.
 * Return: 0 or -ENOENT when there is no such PMU.
 */
int pmus__set_cputype(struct pmus *pmus, const char *name);
int pmus__set_filter(struct pmus *pmus, const char *name);

/** pmus__is_kept() - false when --cputype or --pmu-filter leaves this PMU out, or all its CPUs are offline */
bool pmus__is_kept(const struct pmus *pmus, const struct pmu *pmu);

/**
 * pmus__with_event() - the PMUs that have a named event, ignoring case
 * @nr: receives how many; 0 when none has it
 *
 * Generic hardware and cache names are not looked at. The answer is an array owned by @pmus, in
 * the order of pmus__next(). Return: NULL with *nr 0 also when memory runs out.
 */
struct pmu *const *pmus__with_event(struct pmus *pmus, const char *name, int *nr);

/**
 * pmu__matches() - whether a PMU is meant by a pattern
 *
 * "uncore_" is ignored on both sides. Equal names match, a name followed by an instance number
 * (behind '_' or not; hexadecimal numbers need three digits), and shell globs.
 */
bool pmu__matches(const struct pmu *pmu, const char *pattern);

/**
 * pmu__has_identifier() - whether the PMU's "identifier" matches a pattern (cpuid__matches())
 * @pattern: NULL is matched by all
 */
bool pmu__has_identifier(const struct pmu *pmu, const char *pattern);

/** pmu__family_len() - the length of the name without its instance number */
int pmu__family_len(const struct pmu *pmu);

/** pmu__same_family() - instances of one kind of PMU, whose counts are summed */
bool pmu__same_family(const struct pmu *a, const struct pmu *b);

/** pmu__format() - the format of that name, or NULL; pmu__next_format() iterates (NULL: first) */
const struct pmu_format *pmu__format(const struct pmu *pmu, const char *name);
const struct pmu_format *pmu__next_format(const struct pmu *pmu, const struct pmu_format *prev);

/** pmu__event() - the event of that name or alias, ignoring case, or NULL. Borrowed */
const struct pmu_event *pmu__event(const struct pmu *pmu, const char *name);

/** pmu__next_event() - iterate in the order of names: NULL gives the first; NULL after the last */
const struct pmu_event *pmu__next_event(const struct pmu *pmu, const struct pmu_event *prev);

/** pmu__sensor() - what a sensor shows; see hwmon__read() */
int pmu__sensor(const struct pmu *pmu, uint64_t config, uint64_t *value);

/** pmu__is_software(), pmu__is_tool() - the two PMUs whose events are known by tables */
bool pmu__is_software(const struct pmu *pmu);
bool pmu__is_tool(const struct pmu *pmu);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_DEFINITIONS_H
#define PERF_UTIL_DEFINITIONS_H

/*
 * Metrics and events that files define, besides the metrics built in. Files are JSON with the keys
 * of Linux's perf and its vendors: arrays of objects, or objects that hold one as "Events" or
 * "Metrics". They are read when something is first looked for.
 *
 * Places, the first definition of a name wins:
 *	--metrics-file FILE
 *	$PERF_METRICS_PATH, files and directories separated by ':'
 *	metrics/ beside the program (a build tree), else that of the installation, which may be moved
 *
 * Of a directory, what its mapfile.csv names for this CPU comes first, then its *.json. Beside a
 * mapfile, these define no events themselves but what "ArchStdEvent" refers to; and a directory
 * called sys, somewhere below, has the events of PMUs that "Compat" finds. A tree for several
 * architectures has a directory for each, called x86, arm64 and so on.
 */

#include <stdbool.h>

struct definitions;
struct metric_def;

/* An event of a PMU, as a file defines it. */
struct event_def {
	char *name;			/* lower case */
	char *terms;			/* event=0x3c,umask=0x1 */
	const char *pmu;		/* the PMU's name or family; NULL: core PMUs */
	const char *compat;		/* only of PMUs whose identifier matches; NULL: all */
	const char *desc, *long_desc;	/* NULL: none */
	const char *topic;		/* the file's name without .json */
	const char *scale_unit;		/* "64Bytes"; NULL: none */
	bool per_pkg, deprecated;
};

/** definitions__new() - those built in; NULL with errno ENOMEM */
struct definitions *definitions__new(void);
void definitions__delete(struct definitions *defs);

/**
 * definitions__add_file() - read this file or directory, before all others
 *
 * Return: 0, or -errno after a message.
 */
int definitions__add_file(struct definitions *defs, const char *path);

/**
 * definitions__add_places() - also look at the places that need no option
 *
 * What cannot be read there is warned of when it comes to reading.
 */
void definitions__add_places(struct definitions *defs);

/** definitions__next_metric() - walk all metrics: NULL gives the first, NULL after the last */
const struct metric_def *definitions__next_metric(struct definitions *defs,
						  const struct metric_def *prev);

/**
 * definitions__find_metric() - by name, ignoring case
 * @pmu: of several metrics of that name the one of this PMU; NULL: the first
 */
const struct metric_def *definitions__find_metric(struct definitions *defs, const char *name,
						  const char *pmu);

/**
 * definitions__mentions() - a file has that text: to look is cheaper than to read what it defines
 */
bool definitions__mentions(struct definitions *defs, const char *text);

/** definitions__next_event() - the same for events */
const struct event_def *definitions__next_event(struct definitions *defs,
						const struct event_def *prev);

/** definitions__cpuid() - of this machine, "" when it is not known */
const char *definitions__cpuid(struct definitions *defs);

#endif

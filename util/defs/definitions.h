/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DEFS_DEFINITIONS_H
#define PERF_DEFS_DEFINITIONS_H

/*
 * Metrics and events from files, and the built-in metrics. Files are JSON with the keys of Linux's
 * perf and of vendors: arrays of objects, or objects with an array "Events" or "Metrics". They are
 * read at the first lookup.
 *
 * The first definition of a name wins. The places, in this order:
 *
 *	--metrics-file FILE
 *	$PERF_METRICS_PATH, files and directories separated by ':'
 *	metrics/ beside the program (a build tree), otherwise of the installation, which may be moved
 *
 * In a directory, the files that mapfile.csv names for this CPU come first, then *.json. Beside a
 * mapfile, *.json only has templates for "ArchStdEvent". A directory called sys at any level has the
 * events of PMUs that "Compat" finds. A tree for several architectures has one directory for each,
 * called x86, arm64 and so on.
 */

#include "util/defs/event_def.h"

#include <stdbool.h>

struct definitions;
struct metric_def;

/** definitions__new() - the built-in definitions; NULL with errno ENOMEM */
struct definitions *definitions__new(void);
void definitions__delete(struct definitions *defs);

/**
 * definitions__add_file() - also use this file or directory, before all others
 *
 * Return: 0, or -errno after a message.
 */
int definitions__add_file(struct definitions *defs, const char *path);

/**
 * definitions__add_places() - also use the places that need no option
 *
 * Unreadable ones are warned of at the first lookup.
 */
void definitions__add_places(struct definitions *defs);

/** definitions__next_metric() - walk all metrics: NULL gives the first, NULL after the last */
const struct metric_def *definitions__next_metric(struct definitions *defs,
						  const struct metric_def *prev);

/**
 * definitions__find_metric() - by name, ignoring case
 * @pmu: prefer the metric of this PMU; NULL: the first
 */
const struct metric_def *definitions__find_metric(struct definitions *defs, const char *name,
						  const char *pmu);

/**
 * definitions__mentions() - whether a file contains a text; cheaper than parsing it
 */
bool definitions__mentions(struct definitions *defs, const char *text);

/** definitions__next_event() - walk all events: NULL gives the first, NULL after the last */
const struct event_def *definitions__next_event(struct definitions *defs,
						const struct event_def *prev);

/** definitions__cpuid() - the identifier of this machine's CPU, "" if unknown */
const char *definitions__cpuid(struct definitions *defs);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_DEFINITIONS_PRIV_H
#define PERF_UTIL_DEFINITIONS_PRIV_H

/* What definitions.c, which finds files, and definition_files.c, which reads them, share. */

#include "definitions.h"
#include "metric.h"

struct json_object;

/* A file that defines something. */
struct definition_file {
	char *path;
	char *topic;			/* the name without .json */
	const char *pmu;		/* of its core events, on machines of several kinds; NULL: any */
	bool is_standard;		/* its events are templates */
	bool is_parsed;
	struct json_object *json;	/* strings of definitions are borrowed from it; NULL: bad */
};

struct definitions {
	struct definition_file *files;
	int nr_files;
	struct metric_def *metrics;	/* of files, and behind them those built in */
	int nr_metrics, cap_metrics;
	struct event_def *events;
	int nr_events, cap_events;
	bool wants_places;		/* files there are still to be looked for */
	bool has_events, has_metrics;	/* all files have been looked at for these */
	char *cpuid;
	struct json_object **standard;	/* events that others refer to; borrowed */
	int nr_standard, cap_standard;
};

/* DEFINES_ANYTHING: even nothing. */
enum definition_kind { DEFINES_EVENTS, DEFINES_METRICS, DEFINES_ANYTHING };

/**
 * definition_file__parse() - read the file, once, if it looks like defining something of that kind
 *
 * What it has is not among the definitions yet; files that are no JSON are warned of.
 */
void definition_file__parse(struct definition_file *file, enum definition_kind kind);

/**
 * definition_file__read() - put what a file defines of one kind behind what there is
 *
 * It is parsed for that, if it has not been. Return: 0 or -ENOMEM.
 */
int definition_file__read(struct definitions *defs, struct definition_file *file,
			  enum definition_kind kind);

#endif

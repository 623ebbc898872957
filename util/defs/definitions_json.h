/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DEFS_DEFINITIONS_JSON_H
#define PERF_DEFS_DEFINITIONS_JSON_H

/* JSON files that define metrics and events, as the vendors of CPUs publish them. */

#include <stdbool.h>

struct event_def;
struct json_object;
struct metric_def;

/* A file that defines something. */
struct definition_file {
	char *path;
	char *topic;	  /* the name without .json, blanks for hyphens: "floating point" */
	const char *pmu;  /* of its core events, on machines with several kinds; NULL: any */
	bool is_standard; /* its events are templates, and others may refer to its metrics */
	bool is_parsed;
	struct json_object *json; /* definitions borrow its strings; NULL: bad */
};

/* Definitions from files. All zero: none yet. The arrays and trees are owned. */
struct definition_tables {
	struct metric_def *metrics;
	int nr_metrics;
	struct event_def *events;
	int nr_events;
	void *metric_names; /* trees of definition_names__add() */
	void *standard;	    /* events that others refer to */
	void *standard_metrics;
};

enum definition_kind {
	DEFINES_EVENTS,
	DEFINES_METRICS,
	DEFINES_ANYTHING, /* even nothing */
};

/**
 * definition_file__parse() - read the file, once, if it seems to define something of that kind
 *
 * Adds no definitions yet. Warns of files that are not valid JSON.
 */
void definition_file__parse(struct definition_file *file, enum definition_kind kind);

/**
 * definition_file__read() - append a file's definitions of one kind
 *
 * Parses the file before, if that is not done yet. Return: 0 or -ENOMEM.
 */
int definition_file__read(struct definition_tables *tables, struct definition_file *file,
			  enum definition_kind kind);

/**
 * definition_file__read_standard() - note the events and metrics of a file that others refer to
 *
 * Before any file is read that refers to them. Return: 0 or -ENOMEM.
 */
int definition_file__read_standard(struct definition_tables *tables, struct definition_file *file);

/** definition_tables__clear() - free everything that the tables own */
void definition_tables__clear(struct definition_tables *tables);

#endif

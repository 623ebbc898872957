/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_METRIC_METRIC_VALUE_H
#define PERF_METRIC_METRIC_VALUE_H

/* The counts that metrics are computed from, and their printable results. */

#include <stdbool.h>

struct evsel;
struct pmu;

enum metric_color {
	METRIC_PLAIN,
	METRIC_RED,
	METRIC_MAGENTA,
	METRIC_YELLOW,
	METRIC_GREEN,
};

/* A computed metric, ready to print. */
struct metric_value {
	double value;	    /* in its unit; NaN: cannot be computed */
	bool is_uncounted;  /* NaN because an event was not counted: print nothing */
	const char *format; /* of the value in standard format, borrowed */
	char *text;	    /* unit and name; owned */
	enum metric_color color;
	const char *threshold;	/* "bad", "good"; NULL: unknown */
	int rank;		/* position among the metrics of -M, from 1; 0: others */
	const struct pmu *core; /* the core PMU whose events it uses, borrowed; NULL: none */
};

/** metric_value__clear() - free the text */
void metric_value__clear(struct metric_value *value);

/* The count of an event in the row of a metric. */
struct metric_count {
	double value;	/* scaled for multiplexing, before the event's scale */
	int nr;		/* counters in the sum */
	int nr_sources; /* PMU instances in the sum */
};

/* The source of counts for metrics: one row. */
struct metric_source {
	const void *data;
	/* false: not counted in this row */
	bool (*count)(const void *data, const struct evsel *evsel, struct metric_count *count);
	double time_s; /* duration, used without a duration_time event */
};

#endif

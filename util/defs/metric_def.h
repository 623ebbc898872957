/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DEFS_METRIC_DEF_H
#define PERF_DEFS_METRIC_DEF_H

/* The definition of a metric, built in or read from a file. */

#include <stdbool.h>

/* Built-in definitions are constant. The strings of others belong to the file's JSON. */
struct metric_def {
	const char *name;
	const char *label; /* printed instead of the name; NULL: the name */
	const char *group; /* several are separated by ';' */
	const char *description;
	const char *expr;
	const char *unit;	      /* ScaleUnit: number and unit text, "100%"; NULL: none */
	const char *threshold;	      /* true means bad; NULL: none */
	const char *long_description; /* NULL: none */
	const char *constraint;	   /* MetricConstraint: when not to group its events; NULL: never */
	const char *no_group_in;   /* MetricgroupNoGroup: groups in which not to; NULL: none */
	const char *pmu;	   /* the PMU that it is about: cpu_core; NULL: any */
	const char *compat;	   /* the identifier of that PMU; NULL: any */
	bool show_events;	   /* DefaultShowEvents */
	const char *default_group; /* DefaultMetricgroupName; NULL: has an event's row */
	const char *rows[2];	   /* the event whose row it is on, or an alternative; NULL: any */
	bool own_row; /* its row is the last event of that name, shared with no other */
};

/** metric_def__in_group() - one of its groups has that name, ignoring case */
bool metric_def__in_group(const struct metric_def *def, const char *group);

/** metric_def__has_word() - a list separated by ';', which may be NULL, contains that word */
bool metric_def__has_word(const char *list, const char *word);

#endif

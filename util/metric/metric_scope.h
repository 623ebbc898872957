/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_METRIC_METRIC_SCOPE_H
#define PERF_METRIC_METRIC_SCOPE_H

/* The events of a metric's scope, and constants of machine and target. */

#include <stdbool.h>

struct cgroup;
struct definitions;
struct evlist;
struct pmu;
struct pmus;
struct target;

/* Metrics may refer to each other to this depth; a longer chain would overflow the stack. */
#define MAX_METRIC_DEPTH 256

/* All zero: no events and no constants. */
struct metric_scope {
	const struct evlist *evlist;
	const struct cgroup *cgroup; /* events of this cgroup; NULL: without one */
	const struct pmu *pmu;	     /* core PMU; NULL: any */
	bool target_cpu;	     /* #target_cpu */
	/* other literals, without '#'; NULL: all NaN */
	double (*literal)(const struct target *target, const char *name);
	const struct target *target; /* for literal() */
	struct definitions *defs;    /* other metrics and the CPU; NULL: built-in metrics, no CPU */
	struct pmus *pmus; /* for has_event() of events outside the list; NULL: has none */
	int set;	   /* only events with this metric_set; 0: all */
};

/** metric_scope__literal() - the value of #NAME; NaN if unknown */
double metric_scope__literal(const struct metric_scope *scope, const char *name);

/** metric_scope__is_cpu() - whether a pattern of identifiers matches this machine's CPU */
bool metric_scope__is_cpu(const struct metric_scope *scope, const char *pattern);

#endif

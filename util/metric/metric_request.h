/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_METRIC_METRIC_REQUEST_H
#define PERF_METRIC_METRIC_REQUEST_H

/*
 * The metrics of -M, and the events that they need. The events of a metric are a set: a weak group,
 * and perf's own values beside it. A metric uses a larger metric's set if that has its events.
 */

#include "util/defs/metric_def.h"
#include "util/metric/metric_scope.h"

#include <stdbool.h>

struct metric_request_options {
	bool no_group;		   /* --metric-no-group */
	bool no_merge;		   /* --metric-no-merge: one set per metric */
	bool no_threshold;	   /* without events that only thresholds need */
	struct metric_scope scope; /* only defs, pmus, target_cpu, literal */
};

/* A requested metric. */
struct metric_request {
	struct metric_def def; /* a copy with its own label */
	int set;	       /* the set of events that it uses */
	/* private */
	char *label;
	char *modifiers;   /* NULL: none */
	const char *group; /* the group that it was requested by; NULL: its name */
	char **ids;	   /* kernel events */
	int nr_ids;
	bool is_grouped;
};

struct metric_requests {
	struct metric_request *requests;
	int nr;
	/* private */
	bool is_default; /* of the default sets, some of which have headings */
	char **tools;	 /* perf's own events that any metric needs */
	int nr_tools;
};

/**
 * metric_requests__add() - request the metrics of one -M
 * @list: names of metrics and of groups of metrics, each optionally with :MODIFIERS
 *
 * "all" means every metric, "No_group" all metrics without a group. Metrics that this machine cannot
 * count are left out, with a message unless a group asked for them. Zeroed @requests are empty.
 * Return: 0; after a message -ENOENT (no such metric) or -EINVAL (none can be counted here); -ENOMEM.
 */
int metric_requests__add(struct metric_requests *requests, const char *list,
			 const struct metric_request_options *options);

/**
 * metric_requests__add_defaults() - request the metrics of files in the default sets
 * @detail: number of -d
 *
 * Leaves out metrics with the name of a built-in one, and metrics with unknown events.
 * Return: 0 or -ENOMEM.
 */
int metric_requests__add_defaults(struct metric_requests *requests, int detail,
				  const struct metric_request_options *options);

/** metric_requests__has_group() - whether a group has any metric for this machine */
bool metric_requests__has_group(const char *name, const struct metric_request_options *options);

/** metric_requests__show_events() - whether a metric of that set shows its events by default */
bool metric_requests__show_events(const struct metric_requests *requests, int set);

void metric_requests__clear(struct metric_requests *requests);

/** metric_request__has_id() - whether a list of events contains one, ignoring case */
bool metric_request__has_id(char *const *ids, int nr, const char *id);

/**
 * metric_request__event_text() - an event of a metric as text for parse_events()
 *
 * On heterogeneous machines the text has the metric's core PMU, if that has the event. Owned; NULL
 * without memory.
 */
char *metric_request__event_text(const struct metric_request *request, struct pmus *pmus,
				 const char *id);

#endif

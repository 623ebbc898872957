/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_METRIC_REQUEST_H
#define PERF_UTIL_METRIC_REQUEST_H

/*
 * -M: which metrics are wanted, and which events that takes. The events of a metric are a set: a
 * weak group, with perf's own values beside it. A metric that a larger one's set serves uses that.
 */

#include "metric.h"

struct evlist;

struct metric_request_options {
	bool no_group;			/* --metric-no-group */
	bool no_merge;			/* --metric-no-merge: a set for each metric */
	bool no_threshold;		/* no events that only a threshold needs */
	struct metric_scope scope;	/* defs, pmus, target_cpu, literal; the rest is ignored */
};

/* One metric that is wanted. */
struct metric_request {
	struct metric_def def;		/* a copy: of label and instance of its own */
	int set;			/* whose events it uses */
	/* private */
	char *label;
	char *modifiers;		/* NULL: none */
	const char *group;		/* by which it was chosen; NULL: by its name */
	char **ids;			/* kernel events */
	int nr_ids;
	bool is_grouped;
};

struct metric_requests {
	struct metric_request *requests;
	int nr;
	/* private */
	bool is_default;		/* of the default sets, some of which stand below headings */
	char **tools;			/* perf's own events that any of them needs */
	int nr_tools;
};

/**
 * metric_requests__add() - take in one -M
 * @list: names of metrics and of groups of metrics, each with :MODIFIERS if need be
 *
 * "all" stands for every metric, "No_group" for those without a group. Of a group, metrics whose
 * events this machine does not know are left out. Zeroed @requests are empty.
 * Return: 0; after a message -ENOENT (no such metric) or -EINVAL (one that cannot be counted here);
 * -ENOMEM.
 */
int metric_requests__add(struct metric_requests *requests, const char *list,
			 const struct metric_request_options *options);

/**
 * metric_requests__add_defaults() - take in metrics of files that belong to the default sets
 * @detail: how often -d was given
 *
 * Those of a name that is built in are left out, and those whose events are not known here.
 * Return: 0 or -ENOMEM.
 */
int metric_requests__add_defaults(struct metric_requests *requests, int detail,
				  const struct metric_request_options *options);

/** metric_requests__has_group() - whether any metric for this machine is in that group */
bool metric_requests__has_group(const char *name, const struct metric_request_options *options);

/**
 * metric_requests__add_events() - append the events of all metrics to a list
 *
 * Once, after the last metric_requests__add(). Return: 0, -EINVAL after a message, -ENOMEM.
 */
int metric_requests__add_events(struct metric_requests *requests, struct evlist *list,
				const struct metric_request_options *options);

/** metric_requests__show_events() - a metric of that set wants rows for its events by default */
bool metric_requests__show_events(const struct metric_requests *requests, int set);

void metric_requests__clear(struct metric_requests *requests);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_METRIC_PLAN_H
#define PERF_UTIL_METRIC_PLAN_H

/* What the options of perf stat say about metrics. */

#include "metric_request.h"

#define MAX_TD_LEVEL 6

struct metric_plan {
	char *names;			/* of all -M; NULL: none. Owned */
	bool topdown, transaction, smi_cost;
	unsigned int td_level;		/* of --topdown; 0: all that the CPU has */
	struct metric_request_options options;
	struct metric_requests requests;
};

/** metric_plan__add_names() - one more -M; 0 or -ENOMEM */
int metric_plan__add_names(struct metric_plan *plan, const char *names);

/** metric_plan__is_empty() - no option asks for a metric */
bool metric_plan__is_empty(const struct metric_plan *plan);

/**
 * metric_plan__add_events() - append the events of all metrics asked for
 *
 * The options' scope is complete by now. Return: 0, or after a message -ENOENT (no such metric),
 * -EINVAL (the CPU has no such group), -EIO (one that cannot be counted here), -ENOMEM.
 */
int metric_plan__add_events(struct metric_plan *plan, struct evlist *list);

/**
 * metric_plan__add_defaults() - append those of files' metrics that belong to the default sets
 * @detail: how often -d was given
 *
 * Return: 0 or -ENOMEM.
 */
int metric_plan__add_defaults(struct metric_plan *plan, struct evlist *list, int detail);

void metric_plan__clear(struct metric_plan *plan);

#endif

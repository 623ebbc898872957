/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_METRIC_METRIC_OPTIONS_H
#define PERF_METRIC_METRIC_OPTIONS_H

/* The options of perf stat for metrics, and their events. */

#include "util/metric/metric_request.h"

#define MAX_TD_LEVEL 6

struct metric_options {
	char *names; /* of all -M; NULL: none. Owned */
	bool topdown, transaction, smi_cost;
	unsigned int td_level; /* of --topdown; 0: all levels of the CPU */
	struct metric_request_options options;
	struct metric_requests requests;
};

/** metric_options__add_names() - append the names of one -M; 0 or -ENOMEM */
int metric_options__add_names(struct metric_options *plan, const char *names);

/** metric_options__is_empty() - whether no option requests a metric */
bool metric_options__is_empty(const struct metric_options *plan);

/**
 * metric_options__add_events() - append the events of all requested metrics
 *
 * The options' scope must be complete. Return: 0, or after a message -ENOENT (no such metric),
 * -EINVAL (the CPU has no such group), -EIO (one that cannot be counted here), -ENOMEM.
 */
int metric_options__add_events(struct metric_options *plan, struct evlist *list);

/**
 * metric_options__add_defaults() - append the events of files' metrics in the default sets
 * @detail: number of -d
 *
 * Return: 0 or -ENOMEM.
 */
int metric_options__add_defaults(struct metric_options *plan, struct evlist *list, int detail);

void metric_options__clear(struct metric_options *plan);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_METRIC_METRIC_GROUPS_H
#define PERF_METRIC_METRIC_GROUPS_H

/* The events of requested metrics, grouped in shared sets. */

struct evlist;
struct metric_request_options;
struct metric_requests;

/**
 * metric_requests__add_events() - append the events of all metrics to a list
 *
 * Call once, after the last metric_requests__add(). Return: 0, -EINVAL after a message, -ENOMEM.
 */
int metric_requests__add_events(struct metric_requests *requests, struct evlist *list,
				const struct metric_request_options *options);

#endif

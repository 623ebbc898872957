/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_METRIC_METRIC_BIND_H
#define PERF_METRIC_METRIC_BIND_H

/* All metrics for a list of events: the default ones, or those of -M. */

struct metric;
struct metric_requests;
struct metric_scope;

/**
 * metric__bind_defaults() - bind the default metrics to a list of default events
 * @scope: without cgroup and pmu: there is one set per cgroup and per core PMU
 * @out: receives an array (owned) of @nr metrics (owned)
 *
 * Leaves out metrics whose row is not in the list. Return: 0 or -ENOMEM.
 */
int metric__bind_defaults(const struct metric_scope *scope, struct metric ***out, int *nr);

/**
 * metric__bind_requests() - bind the metrics of -M to a list with their events
 * @scope: without cgroup, pmu and set: there is one metric per cgroup, and per core PMU if it
 *	uses one
 * @requests: borrowed as long as the metrics live
 * @out: receives an array (owned) of @nr metrics (owned), which may have no row yet
 *
 * Return: 0 or -ENOMEM.
 */
int metric__bind_requests(const struct metric_scope *scope, const struct metric_requests *requests,
			  struct metric ***out, int *nr);

#endif

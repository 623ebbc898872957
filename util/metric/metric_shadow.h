/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_METRIC_METRIC_SHADOW_H
#define PERF_METRIC_METRIC_SHADOW_H

/* Metrics without a definition: ratios, rates, and counts per execution. */

#include "util/metric/metric_value.h"

struct evlist;

/**
 * metric_shadow__ratios() - the ratios and rates that perf up to 6.x printed for any -e
 * @fixed_unit: print rates per second, with the event's name, for columns
 * @out: receives up to two metrics, released by metric_value__clear()
 *
 * Return: their number, or -ENOMEM.
 */
int metric_shadow__ratios(const struct evlist *evlist, const struct evsel *evsel, bool fixed_unit,
			  const struct metric_source *source, struct metric_value out[2]);

/**
 * metric_shadow__per_execution() - the count of an event per execution of a BPF program
 * @in_columns: its text also names the event
 * @out: one metric, released by metric_value__clear()
 *
 * Return: 1; 0 if no BPF programs are counted or ran; or -ENOMEM.
 */
int metric_shadow__per_execution(const struct evlist *evlist, const struct evsel *evsel,
				 bool in_columns, const struct metric_source *source,
				 struct metric_value *out);

#endif

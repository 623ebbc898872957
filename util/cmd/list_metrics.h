/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_LIST_METRICS_H
#define PERF_CMD_LIST_METRICS_H

/* Metrics and metric groups in perf list. */

struct lister;

/** list__metrics(), list__metricgroups() - list the names that -M accepts */
void list__metrics(struct lister *l);
void list__metricgroups(struct lister *l);

#endif

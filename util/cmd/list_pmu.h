/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_LIST_PMU_H
#define PERF_CMD_LIST_PMU_H

/* The events of PMUs in perf list, tables of generic events included. */

struct event_name;
#include <stdbool.h>

struct lister;
struct pmu;

/** list__hw(), list__cache() - list the generic events that this machine can open */
void list__hw(struct lister *l);
void list__cache(struct lister *l);

/** list__table() - list software or tool events: the table replaces their PMU */
void list__table(struct lister *l, const char *pmu, const struct event_name *event,
		 const char *type);

/** list__pmus() - list the named events of all other PMUs */
void list__pmus(struct lister *l);

/** list_pmu__is_shown() - whether a PMU is listed itself: it is the first one of its family, or -v was given */
bool list_pmu__is_shown(struct lister *l, const struct pmu *pmu);

#endif

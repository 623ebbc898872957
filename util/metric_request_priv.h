/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_METRIC_REQUEST_PRIV_H
#define PERF_UTIL_METRIC_REQUEST_PRIV_H

/* What metric_request.c, which says what is wanted, and metric_sets.c, which has it counted, share. */

#include "metric_request.h"

struct pmus;

/** metric_request__has_id() - whether a list of events has that one, ignoring case */
bool metric_request__has_id(char *const *ids, int nr, const char *id);

/**
 * metric_request__event_text() - an event of a metric as parse_events() wants it
 *
 * Of a machine with several kinds of cores a metric may want the events of one. Owned; NULL without
 * memory.
 */
char *metric_request__event_text(const struct metric_request *request, struct pmus *pmus,
				 const char *id);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DEFS_METRIC_BUILTIN_H
#define PERF_DEFS_METRIC_BUILTIN_H

/* The metrics that are built in: those of the default sets. */

#include "util/defs/metric_def.h"

/**
 * metric_builtin__next() - walk the built-in definitions: NULL gives the first, NULL after the last
 *
 * Groups Default, Default2, Default3, Default4, in this order.
 */
const struct metric_def *metric_builtin__next(const struct metric_def *prev);

/** metric_builtin__find() - by name, ignoring case; NULL when there is none */
const struct metric_def *metric_builtin__find(const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_CONFIG_H
#define PERF_UTIL_CONFIG_H

/* perf's configuration files: [section], and below it key = value. */

#include <stdbool.h>

/**
 * config__is() - a switch of the configuration
 * @key: "stat.big-num"
 * @otherwise: what it is when nothing, or no truth value, is given
 *
 * Read is $PERF_CONFIG; without it ~/.perfconfig and what that lacks from /etc/perfconfig.
 */
bool config__is(const char *key, bool otherwise);

#endif

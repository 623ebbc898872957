/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_COUNTER_BPERF_H
#define PERF_COUNTER_BPERF_H

/* Count through events shared with all other sessions. */

struct counter;
struct counter_plan;

/** counter_bperf__new() - shared perf events, see Documentation/design.md; NULL with errno ENOMEM */
struct counter *counter_bperf__new(const struct counter_plan *plan);

#endif

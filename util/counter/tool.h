/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_COUNTER_TOOL_H
#define PERF_COUNTER_TOOL_H

/* Count values of perf's own: clocks, sensors, properties of the machine. */

struct counter;
struct counter_plan;

/** counter_tool__new() - the events of the tool PMU (duration_time, ...); NULL with errno ENOMEM */
struct counter *counter_tool__new(const struct counter_plan *plan);

#endif

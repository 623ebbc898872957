/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_TOOL_VALUES_H
#define PERF_EVENT_TOOL_VALUES_H

/* The values of tool events, from procfs and sysfs. */

#include "util/event/evsel.h"

struct target;

/**
 * tool__value() - a constant of machine and target: num_cpus, smt_on, ...
 *
 * Return: 0, or -ENOENT if this machine does not report it.
 */
int tool__value(enum tool_event event, const struct target *target, uint64_t *value);

/** tool__literal() - the same by name, for #NAME in metrics; NaN if unknown */
double tool__literal(const struct target *target, const char *name);

/** tool__is_watchdog_on() - whether the NMI watchdog occupies a counter */
bool tool__is_watchdog_on(void);

/** tool__thread_time(), tool__cpu_time() - user or system time used so far, in ns; 0 or -errno */
int tool__thread_time(pid_t tid, bool is_user, uint64_t *ns);
int tool__cpu_time(int cpu, bool is_user, uint64_t *ns);

#endif

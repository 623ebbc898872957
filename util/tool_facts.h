/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_TOOL_FACTS_H
#define PERF_UTIL_TOOL_FACTS_H

/* Where the values of tool events come from: procfs and sysfs. */

#include "evsel.h"

struct target;

/**
 * tool__fact() - a constant of machine and target: num_cpus, smt_on, ...
 *
 * Return: 0, or -ENOENT when this machine does not say.
 */
int tool__fact(enum tool_event event, const struct target *target, uint64_t *value);

/** tool__literal() - the same by name, for #NAME in metrics; NaN when it is not known */
double tool__literal(const struct target *target, const char *name);

/** tool__is_watchdog_on() - the NMI watchdog holds a counter, which a group may need */
bool tool__is_watchdog_on(void);

/** tool__thread_time(), tool__cpu_time() - user or system time used so far, in ns; 0 or -errno */
int tool__thread_time(pid_t tid, bool is_user, uint64_t *ns);
int tool__cpu_time(int cpu, bool is_user, uint64_t *ns);

#endif

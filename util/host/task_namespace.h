/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_TASK_NAMESPACE_H
#define PERF_HOST_TASK_NAMESPACE_H

/* The namespaces that perf runs in, where these give tasks other numbers or other start times. */

#include <stdbool.h>

/**
 * task_namespace__name() - the kind of namespace in which perf knows tasks by other values than BPF programs do
 *
 * Return: "pid" or "time"; NULL: none, or that cannot be found out.
 */
const char *task_namespace__name(void);

/** task_namespace__hides_tasks() - whether there may be tasks without a number in perf's pid namespace */
bool task_namespace__hides_tasks(void);

/**
 * task_namespace__check_proc() - check that the numbers in /proc are those of perf's own pid namespace
 * @failure: begins the message
 *
 * Otherwise /proc is not mounted, or it is that of another pid namespace: the same number there is another task.
 * Return: 0, or -errno after a message. -ENOENT: they are not.
 */
int task_namespace__check_proc(const char *failure);

#endif

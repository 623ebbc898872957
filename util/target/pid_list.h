/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TARGET_PID_LIST_H
#define PERF_TARGET_PID_LIST_H

/* Processes that a target has when it is looked at. */

#include <sys/types.h>

struct target;

/* All zero: empty. */
struct pid_list {
	pid_t *pids;
	int nr;
};

/** pid_list__add() - append a process; 0 or -ENOMEM */
int pid_list__add(struct pid_list *list, pid_t pid);

/** pid_list__find() - append those of -p, those that have the threads of -t, or all that there are; 0 or -ENOMEM */
int pid_list__find(struct pid_list *list, const struct target *target);

void pid_list__clear(struct pid_list *list);

#endif

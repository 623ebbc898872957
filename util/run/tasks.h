/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_RUN_TASKS_H
#define PERF_RUN_TASKS_H

/* The tasks of a pass: threads, their end, the workload's status. */

#include <stdbool.h>

struct stat_pass;

/** stat_pass__find_threads() - fill the plan's threads. Return: 0 or -errno after a message */
int stat_pass__find_threads(struct stat_pass *pass);

/** stat_pass__watch_tasks() - prepare to wait for the end of the target. Return: 0 or -ENOMEM */
int stat_pass__watch_tasks(struct stat_pass *pass);

/** stat_pass__is_target_gone() - everything that was to be counted has ended */
bool stat_pass__is_target_gone(struct stat_pass *pass);

/** stat_pass__task_fd() - a descriptor that is readable when a live task of the target ends; -1: none */
int stat_pass__task_fd(const struct stat_pass *pass);

/** stat_pass__needs_polling() - no descriptor announces the end of the target */
bool stat_pass__needs_polling(const struct stat_pass *pass);

/**
 * stat_pass__status() - the workload's exit status, 0 without one
 *
 * Sets run->was_killed and run->has_exited.
 */
int stat_pass__status(struct stat_pass *pass);

/** stat_pass__release_tasks() - release the threads, the workload, and the descriptors of tasks */
void stat_pass__release_tasks(struct stat_pass *pass);

#endif

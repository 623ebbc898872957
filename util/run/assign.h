/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_RUN_ASSIGN_H
#define PERF_RUN_ASSIGN_H

/* The CPUs of every event, and whether it is shared, settled before opening. */

struct stat_run;

/**
 * stat_run__assign() - settle whether and how each event of the plan can be counted
 *
 * Return: 0 or -errno after a message.
 */
int stat_run__assign(struct stat_run *run);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_RUN_RUN_H
#define PERF_RUN_RUN_H

/* The life of one pass: start the workload, open, count, end, clear up. */

#include "util/run/stat_run.h"

/**
 * stat_run__once() - count once, from opening to the last read; the sinks get the counts
 * @status: receives the exit status of the run itself, which is the workload's
 *
 * The events stay open, so that the counts can be printed before anything waits. The next
 * stat_run__once(), or stat_run__end(), closes them. Return: STATUS_OK, or, after a message,
 * STATUS_INVALID: there are no such tasks; STATUS_FAILED: nothing was counted.
 */
enum stat_status stat_run__once(struct stat_run *run, int *status);

/** stat_run__end() - close what the last stat_run__once() opened, and what it parked */
void stat_run__end(struct stat_run *run);

#endif

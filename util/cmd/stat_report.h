/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_STAT_REPORT_H
#define PERF_CMD_STAT_REPORT_H

/* perf stat report: recorded counts, printed like those of a run. */

#include "util/run/stat_run.h"

struct stat_cmd;

/**
 * stat_report__print() - print the counts of perf.data
 * @cmd: how to print, with an empty list of events; what the data say is filled in
 * @path: "-": stdin
 *
 * Intervals of a stream are printed as they come. Return: STATUS_OK, or another after a message.
 */
enum stat_status stat_report__print(struct stat_cmd *cmd, const char *path);

#endif

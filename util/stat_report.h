/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_STAT_REPORT_H
#define PERF_UTIL_STAT_REPORT_H

/* perf stat report: what was recorded, printed as the run would have. */

struct stat_cmd;

#define STATUS_NO_DATA 255	/* of record and report: nothing to write to, nothing to read */

/**
 * stat_report__print() - print the counts of perf.data
 * @cmd: how to print, with an empty list of events; what the data say is filled in
 * @path: "-": stdin
 *
 * Intervals of a stream are printed as they come. Return: 0 or an exit status after a message.
 */
int stat_report__print(struct stat_cmd *cmd, const char *path);

#endif

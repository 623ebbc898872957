/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_RUN_INTERVAL_H
#define PERF_RUN_INTERVAL_H

/* One interval of a pass, handed to the sinks. */

struct stat_pass;

/** stat_pass__print_interval() - read, and let the sinks print what came since the last time */
int stat_pass__print_interval(struct stat_pass *pass);

#endif

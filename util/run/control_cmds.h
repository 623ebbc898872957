/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_RUN_CONTROL_CMDS_H
#define PERF_RUN_CONTROL_CMDS_H

/* The commands of --control, and the delay of -D. */

#include <stdbool.h>

struct stat_pass;

/** stat_pass__set_enabled() - enable or disable all events, and print a line */
int stat_pass__set_enabled(struct stat_pass *pass, bool is_enabled);

/** stat_pass__end_delay() - start counting after -D MS, unless --control said "disable" */
int stat_pass__end_delay(struct stat_pass *pass);

/** stat_pass__obey() - carry out the commands of --control that have arrived */
int stat_pass__obey(struct stat_pass *pass);

#endif

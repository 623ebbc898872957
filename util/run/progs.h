/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_RUN_PROGS_H
#define PERF_RUN_PROGS_H

/* New and unloaded BPF programs during a pass with -b. */

struct stat_pass;

/**
 * stat_pass__look_for_progs() - give rows to new BPF programs, and count them if a back end is open
 *
 * Sets when to look again. After an error, of which one warning is printed, the next look does the rest.
 */
void stat_pass__look_for_progs(struct stat_pass *pass);

/** stat_pass__report_progs() - after opening, name the programs that are not counted; drop their rows */
int stat_pass__report_progs(struct stat_pass *pass);

#endif

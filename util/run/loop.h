/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_RUN_LOOP_H
#define PERF_RUN_LOOP_H

/* The main loop of a pass. */

struct stat_pass;

/**
 * stat_pass__loop() - count until everything ended, the time is over or a signal came
 *
 * Hands over intervals and obeys --control on the way. Return: 0 or -errno.
 */
int stat_pass__loop(struct stat_pass *pass);

#endif

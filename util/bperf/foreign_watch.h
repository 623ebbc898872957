/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_FOREIGN_WATCH_H
#define PERF_BPERF_FOREIGN_WATCH_H

/* Watching foreign events, and replacing stopped ones. */

struct bperf_leader;

/**
 * foreign_watch__look() - look at all foreign events, and replace those that stand still
 *
 * To be called now and then while there are foreign events; takes the lock if need be.
 * Return: 0 or -errno.
 */
int foreign_watch__look(struct bperf_leader *leader);

#endif

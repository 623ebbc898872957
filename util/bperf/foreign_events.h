/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_FOREIGN_EVENTS_H
#define PERF_BPERF_FOREIGN_EVENTS_H

/*
 * Reading events of foreign leaders, as long as they count. Functions that
 * change something need the attr map's lock, or slots that this session has claimed.
 */

#include <linux/types.h>
#include <stdbool.h>

struct bperf_leader;

/**
 * foreign_events__find() - take hold of the arrays that another leader has the events of a group in
 * @first_idx: of each, the index of CPU 0 in its array
 */
bool foreign_events__find(const struct bperf_leader *leader, int first, int nr, __u32 *first_idx);

/** foreign_events__forget() - let go of them */
void foreign_events__forget(const struct bperf_leader *leader, int first, int nr);

/** foreign_events__adopt() - count another leader's events on a CPU; false: they do not count there */
bool foreign_events__adopt(const struct bperf_leader *leader, int first, int nr, int cpu,
			   const __u32 *first_idx);

#endif

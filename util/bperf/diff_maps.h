/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_DIFF_MAPS_H
#define PERF_BPERF_DIFF_MAPS_H

/* The maps of differences for foreign followers, one per slot. */

#include <linux/types.h>
#include <stdbool.h>

struct bperf_leader;

/** diff_maps__offer() - the id of the map that followers of a slot read, made if need be; 0: there is none */
__u32 diff_maps__offer(struct bperf_leader *leader, int slot);

/** diff_maps__is_ready() - whether a slot has a single event that is ready, and such a map */
bool diff_maps__is_ready(const struct bperf_leader *leader, int slot);

/** diff_maps__provide() - put the maps of ready slots where on_switch finds them; 0 or -errno */
int diff_maps__provide(const struct bperf_leader *leader);

/** diff_maps__zero() - clear the map of a slot, if it has one of the right kind */
void diff_maps__zero(const struct bperf_leader *leader, int slot);

#endif

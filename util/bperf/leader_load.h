/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_LOAD_H
#define PERF_BPERF_LEADER_LOAD_H

/* Loading, attaching and recording a new leader. */

struct attr_map;
struct bperf_leader;

/**
 * leader_load__new() - load the programs of a new leader, attach them, record the leader, and hold it
 *
 * The attr map must be locked. Return: 0, or -errno after a message.
 */
int leader_load__new(struct attr_map *attr_map, struct bperf_leader **out);

#endif

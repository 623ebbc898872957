/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_MAPS_H
#define PERF_BPERF_LEADER_MAPS_H

/*
 * The leader's maps, in kinds. The leader is made with those that all sessions need; the others come with
 * the first session that needs them. The program on_switch holds all of them, as long as it lives:
 *
 *	1 make the map
 *	2 bind it to on_switch
 *	3 write its id to the registry
 *
 * A session that dies before 3 leaves a map that nobody finds, until the leader ends.
 */

#include "util/bperf/leader_parts.h"

struct bperf_leader;
struct prog_maps;

/**
 * leader_maps__make() - make the maps of a new leader, without step 2 and 3
 * leader_maps__name() - do steps 2 and 3 for them, when on_switch is loaded
 *
 * Return: 0 or -errno.
 */
int leader_maps__make(struct bperf_leader *leader);
int leader_maps__name(struct bperf_leader *leader);

/**
 * leader_maps__take() - open the maps of a kind that the registry names
 * @maps: all maps of on_switch; the registry is believed only as far as it names these
 *
 * Return: 0; -EPROTO: one is not what this layout has; -ENOENT: one is gone; other -errno.
 */
int leader_maps__take(struct bperf_leader *leader, const struct prog_maps *maps,
		      enum map_kind kind);

/**
 * leader_maps__need() - open the maps of a kind, and make those that no session has needed so far
 *
 * It needs the lock of tasks. Return: 0 or -errno.
 */
int leader_maps__need(struct bperf_leader *leader, enum map_kind kind);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_LEADER_SERVE_H
#define PERF_UTIL_LEADER_SERVE_H

/*
 * Followers of other implementations: they find our entries in the attr map, attach programs to
 * on_switch, and add up what it writes to a map of differences. Nothing is written, and on_switch is
 * attached to no switch, until the first of them shows up.
 */

#include <linux/types.h>
#include <stdbool.h>

struct leader;

/** leader_serve__offer() - the id of the map that followers of a slot read; 0: there is none */
__u32 leader_serve__offer(struct leader *leader, int slot);

/** leader_serve__withdraw() - slots that are being closed are served no more */
void leader_serve__withdraw(struct leader *leader, int first, int nr);

/** leader_serve__has_followers() - whether somebody's program reads what a slot counts */
bool leader_serve__has_followers(const struct leader *leader, int slot);

/** leader_serve__is_wanted() - whether there is something for leader_serve__start() to do */
bool leader_serve__is_wanted(const struct leader *leader);

/**
 * leader_serve__start() - begin to serve, or have on_switch attached by this run, too
 *
 * Takes our lock, but not the protocol's: the follower that is coming holds it.
 * Return: 0 or -errno.
 */
int leader_serve__start(struct leader *leader);

/** leader_serve__repair() - stop when no followers are left; the attr map must be locked */
void leader_serve__repair(struct leader *leader);

#endif

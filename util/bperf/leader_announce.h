/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_ANNOUNCE_H
#define PERF_BPERF_LEADER_ANNOUNCE_H

/* Announcing shared events to other leaders and to followers. */

struct bperf_leader;

/** leader_announce__group() - let other leaders and followers find the events of @nr slots */
void leader_announce__group(struct bperf_leader *leader, int first, int nr);

/** leader_announce__all() - bring all entries in line; the attr map must be locked */
void leader_announce__all(struct bperf_leader *leader);

/**
 * leader_announce__some() - the same for up to EVENTS_AT_ONCE events, each time the next ones
 *
 * The first time, each session begins at another event.
 */
void leader_announce__some(struct bperf_leader *leader);

#endif

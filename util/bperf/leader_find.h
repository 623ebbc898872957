/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_FIND_H
#define PERF_BPERF_LEADER_FIND_H

/* Finding the leader of an attr map through its record, and holding its parts. */

#include <stdbool.h>

struct attr_map;
struct bperf_leader;
struct leader_record;

/**
 * leader_find__by_record() - hold all parts of the leader that a record names
 * @attr_map: locked
 * @out: on success the leader, released by bperf_leader__delete()
 *
 * Return: 0; -ENOENT: it is gone, or serves another attr map or lock; -EPROTO: its maps are not those
 * of this layout; other -errno.
 */
int leader_find__by_record(struct attr_map *attr_map, const struct leader_record *record,
			   struct bperf_leader **out);

/**
 * leader_find__look() - the leader that serves an attr map, without the lock and without a word
 *
 * Believe it only if leader_find__is_current() confirms it under the lock.
 * Return: the leader, released by bperf_leader__delete(); NULL: there is none, or leader_find__serving()
 * has to look more closely.
 */
struct bperf_leader *leader_find__look(struct attr_map *attr_map);

/** leader_find__is_current() - whether a leader that is held is still the one that the record names */
bool leader_find__is_current(const struct bperf_leader *leader);

/**
 * leader_find__serving() - the leader that serves an attr map, without joining it
 * @attr_map: open
 * @out: the leader, released by bperf_leader__delete(); NULL when there is none, or after a warning when
 *	the one that is there must not be joined
 *
 * Return: 0 or -errno.
 */
int leader_find__serving(struct attr_map *attr_map, struct bperf_leader **out);

#endif

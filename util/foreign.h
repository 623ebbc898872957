/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_FOREIGN_H
#define PERF_UTIL_FOREIGN_H

/*
 * Leaders that are not ours: other implementations of the protocol, and other layouts of this one.
 * Whatever they are, their perf events are in an array that can be held and read without them.
 */

#include <linux/types.h>
#include <stdbool.h>

struct attr_key;
struct attr_map;

/* Where the perf events of an attr are. */
struct foreign_event {
	int map_fd;		/* a PERF_EVENT_ARRAY; owned by whoever asked */
	__u32 map_id;
	__u32 first_idx;	/* of CPU 0; one entry per possible CPU */
};

/**
 * foreign__find() - the perf events of another leader for an attr
 * @key: as announced
 * @link_id: our own leader's, which is not another one
 * @nr_cpus: possible CPUs
 *
 * Return: 0; -ENOENT: there is none that is alive and of a known kind; other -errno.
 */
int foreign__find(const struct attr_map *map, const struct attr_key *key, __u32 link_id,
		  int nr_cpus, struct foreign_event *out);

/** foreign__is_leader() - whether an id is of a link to a leader, ours or not */
bool foreign__is_leader(__u32 link_id);

/** foreign__nr_users() - how many programs besides @prog_id use one of these maps (0: no map), or -errno */
int foreign__nr_users(const __u32 *map_ids, int nr, __u32 prog_id);

#endif

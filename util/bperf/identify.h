/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_IDENTIFY_H
#define PERF_BPERF_IDENTIFY_H

/*
 * Identifying foreign leaders, their events and their followers. Foreign leaders are other implementations
 * of the protocol, and other layouts of this one. Their perf events are in an array that our leader can
 * hold and read without them.
 */

#include <linux/types.h>
#include <stdbool.h>

struct attr_key;
struct prog_maps;

/* Where the perf events of an attr are. */
struct foreign_event {
	int map_fd; /* a PERF_EVENT_ARRAY; the caller's */
	__u32 map_id;
	__u32 first_idx; /* of CPU 0; one entry for each CPU that its leader counts */
};

/**
 * identify__find() - the perf events of another leader for an attr
 * @key: as announced
 * @link_id: of its entry
 * @nr_cpus: that are to be read; one that the other leader does not count fails to be read
 *
 * Return: 0; -ENOENT: there is none that is alive and of a known kind; other -errno.
 */
int identify__find(const struct attr_key *key, __u32 link_id, int nr_cpus,
		   struct foreign_event *out);

/** identify__is_leader() - whether an id is of a link to a leader, ours or not */
bool identify__is_leader(__u32 link_id);

/**
 * identify__read_leader() - the same of an open link
 * @maps: zero at first, released by prog_maps__clear() in any case: the leader's program and its maps
 *
 * Return: 0; -ENOENT: it is none; other -errno.
 */
int identify__read_leader(int link_fd, struct prog_maps *maps);

/* The programs that use some maps. */
struct foreign_users {
	__u32 last_id; /* programs up to this one have been looked at; 0: none */
	int nr;	       /* of them use any of the maps, or did when they were looked at */
	bool *used;    /* for each map, whether one of them does; the caller's */
};

/**
 * identify__look() - look at the programs that came since the last look
 * @users: last_id and nr are 0 for the first look, and all of @used false
 * @map_ids: of @nr maps, read anew for each program; 0: no map
 * @prog_id: the program that is not asked for
 *
 * The first look asks the kernel for all programs of the machine. A further one needs a system call,
 * and some for each new program: ids of programs only grow (but for 2^31 loads meanwhile).
 * Return: 0 or -errno.
 */
int identify__look(struct foreign_users *users, const __u32 *map_ids, int nr, __u32 prog_id);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_RECORD_H
#define PERF_BPERF_LEADER_RECORD_H

/*
 * The record of the running leader, in the lock directory of its attr map. Sessions find the leader by its
 * record only. Names of programs and maps prove nothing, as anybody with CAP_BPF can choose them.
 *
 * The record is a symbolic link whose text names the leader's ids; perf never follows it. So it has an
 * owner, it cannot be changed, and it is replaced as a whole. It holds no reference: the leader ends with
 * its last session, and the record stays, stale. Each layout (LEADER_LAYOUT) has its own.
 *
 *	PATH_lock/leader_N -> "attr-map=12 link=3 program=45 loaded=6789 registry=10"
 */

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

struct attr_map;

struct leader_record {
	__u32 attr_map_id; /* which it serves */
	__u32 link_id;	   /* of on_switch at the quiet tracepoint */
	__u32 prog_id;	   /* on_switch */
	__u32 registry_id;
	__u64 load_time_ns; /* of on_switch, as the kernel reports it: ids can return, times cannot */
};

/* More than the longest record. */
#define LEADER_RECORD_TEXT 160

/** leader_record__format() - the text of a record */
void leader_record__format(const struct leader_record *record, char text[LEADER_RECORD_TEXT]);

/** leader_record__parse() - the record of a text; 0, or -EINVAL unless format() writes just that */
int leader_record__parse(const char *text, struct leader_record *record);

/** leader_record__is_same() - whether both name the same leader */
bool leader_record__is_same(const struct leader_record *a, const struct leader_record *b);

/**
 * leader_record__read() - the record in the lock directory of @map
 *
 * Return: 0; -ENOENT: there is none, or something else has its name; -EPERM: @record is another user's,
 * who is not trusted; other -errno.
 */
int leader_record__read(const struct attr_map *map, struct leader_record *record);

/** leader_record__write() - replace the record; @map is locked. Return: 0 or -errno */
int leader_record__write(const struct attr_map *map, const struct leader_record *record);

#endif

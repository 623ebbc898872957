/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_LEADER_FOREIGN_H
#define PERF_UTIL_LEADER_FOREIGN_H

/*
 * Events that another leader opened and ours reads, as long as they count. The attr map must be
 * locked for whatever changes something.
 */

#include <linux/types.h>
#include <stdbool.h>

struct leader;

/**
 * leader_foreign__find() - take hold of the arrays that another leader has the events of a group in
 * @first_idx: of each, the index of CPU 0 in its array
 */
bool leader_foreign__find(const struct leader *leader, int first, int nr, __u32 *first_idx);

/** leader_foreign__forget() - let go of them */
void leader_foreign__forget(const struct leader *leader, int first, int nr);

/** leader_foreign__adopt() - count another leader's events on a CPU; false: they do not count there */
bool leader_foreign__adopt(const struct leader *leader, int first, int nr, int cpu,
			   const __u32 *first_idx);

/** leader_foreign__note() - have the programs know whether there are any */
void leader_foreign__note(struct leader *leader);

/** leader_foreign__has() - whether the event of a slot is read from another leader, on any CPU */
bool leader_foreign__has(const struct leader *leader, int slot);

/** leader_foreign__has_any() - whether events of other leaders are read */
bool leader_foreign__has_any(const struct leader *leader);

/**
 * leader_foreign__watch() - replace events that their leader has stopped, if there are such
 *
 * To be called now and then while there are events of other leaders; takes the lock if need be.
 * Return: 0 or -errno.
 */
int leader_foreign__watch(struct leader *leader);

#endif

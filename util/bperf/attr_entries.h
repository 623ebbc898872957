/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_ATTR_ENTRIES_H
#define PERF_BPERF_ATTR_ENTRIES_H

/* All entries of the attr map, and removing those that lead nowhere. */

#include <linux/types.h>
#include <stdbool.h>

struct attr_map;
struct attr_map_value;

/* All zero: none. */
struct attr_entries {
	__u8 *keys;		       /* nr times the map's key size, owned */
	struct attr_map_value *values; /* owned */
	int nr;
};

/**
 * attr_entries__read() - copy the entries of a map
 * @entries: zero at first, released by attr_entries__clear() in any case
 * @map: open. Without its lock, an entry that comes or goes meanwhile may be missing, and another one
 *	may be there twice
 *
 * Return: 0 or -errno.
 */
int attr_entries__read(struct attr_entries *entries, const struct attr_map *map);

/** attr_entries__key() - the key of one of them, as long as the map's keys */
const __u8 *attr_entries__key(const struct attr_entries *entries, const struct attr_map *map,
			      int idx);

/**
 * attr_entries__drop() - delete those that lead nowhere, a few in each holding of the map's lock
 * @map: not locked
 * @is_dead: asked about a value without the lock, and again with it
 * @waits: false: what is left when the lock is held by others stays
 * @nr_dropped: those that were deleted, also after a failure
 *
 * Needs the capabilities that is_dead() needs. Return: 0; errors of attr_map__take(); other -errno.
 */
int attr_entries__drop(const struct attr_entries *entries, struct attr_map *map,
		       bool (*is_dead)(void *ctx, const struct attr_map_value *value), void *ctx,
		       bool waits, int *nr_dropped);

/** attr_entries__drop_gone() - the same for all entries of a map whose links are gone */
int attr_entries__drop_gone(struct attr_map *map, bool waits);

/** attr_entries__clear() - release them */
void attr_entries__clear(struct attr_entries *entries);

#endif

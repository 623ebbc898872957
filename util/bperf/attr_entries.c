// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/attr_entries.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/registry.h"
#include "util/host/bpf_info.h"
#include "util/lib/array.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- reading --- */

const __u8 *attr_entries__key(const struct attr_entries *entries, const struct attr_map *map,
			      int idx)
{
	return entries->keys + (size_t)idx * map->key_size;
}

/* Keys have the size that the map tells, so array__add() cannot serve. */
static int add(struct attr_entries *entries, const struct attr_map *map, const __u8 *key,
	       const struct attr_map_value *value)
{
	struct attr_map_value *added;
	int nr = entries->nr;
	__u8 *keys = array__make_room(entries->keys, nr, map->key_size);

	if (!keys)
		return -ENOMEM;
	entries->keys = keys;
	added = array__add(entries->values, nr);
	if (!added)
		return -ENOMEM;
	*added = *value;
	memcpy(keys + (size_t)entries->nr * map->key_size, key, map->key_size);
	entries->nr = nr;
	return 0;
}

int attr_entries__read(struct attr_entries *entries, const struct attr_map *map)
{
	__u8 *key __cleanup(free_ptr) = malloc(map->key_size);
	bool has_key = false;

	if (!key)
		return -ENOMEM;
	/* The kernel begins again if the key before is gone: others could keep a walk going for ever. */
	for (uint32_t i = 0; i < map->max_entries; i++) {
		struct attr_map_value value;
		int err;

		if (bpf_map_get_next_key(map->fd, has_key ? key : NULL, key))
			return errno == ENOENT ? 0 : -errno;
		has_key = true;
		if (!attr_map__is_entry(map, key))
			continue;
		if (bpf_map_lookup_elem(map->fd, key, &value)) {
			if (errno == ENOENT)
				continue;
			return -errno;
		}
		err = add(entries, map, key, &value);
		if (err)
			return err;
	}
	return 0;
}

void attr_entries__clear(struct attr_entries *entries)
{
	free_ptr(&entries->keys);
	free_ptr(&entries->values);
	entries->nr = 0;
}

/* --- removing --- */

/* Under the lock. Another session may have written the entry anew. Return: whether it was deleted, or -errno. */
static int drop(const struct attr_entries *entries, struct attr_map *map, int idx,
		bool (*is_dead)(void *ctx, const struct attr_map_value *value), void *ctx)
{
	const __u8 *key = attr_entries__key(entries, map, idx);
	struct attr_map_value now;

	if (bpf_map_lookup_elem(map->fd, key, &now))
		return errno == ENOENT ? 0 : -errno;
	if (!is_dead(ctx, &now))
		return 0;
	if (bpf_map_delete_elem(map->fd, key))
		return errno == ENOENT ? 0 : -errno;
	return 1;
}

/* Give the lock back after each few entries. */
static int take_turn(struct attr_map *map, bool waits, int nr_judged)
{
	if (nr_judged % EVENTS_AT_ONCE)
		return 0;
	if (nr_judged) {
		attr_map__unlock(map);
		usleep(ATTR_MAP_TURN_US);
	}
	return attr_map__take(map, waits);
}

int attr_entries__drop(const struct attr_entries *entries, struct attr_map *map,
		       bool (*is_dead)(void *ctx, const struct attr_map_value *value), void *ctx,
		       bool waits, int *nr_dropped)
{
	int nr_judged = 0, err = 0;

	*nr_dropped = 0;
	for (int i = 0; i < entries->nr && err >= 0; i++) {
		if (!is_dead(ctx, &entries->values[i]))
			continue;
		err = take_turn(map, waits, nr_judged++);
		if (!err)
			err = drop(entries, map, i, is_dead, ctx);
		if (err > 0)
			++*nr_dropped;
	}
	attr_map__unlock(map);
	return err < 0 ? err : 0;
}

/* Entries of one leader all name the same link. */
static bool is_gone(void *ctx, const struct attr_map_value *value)
{
	__u32 *last_alive = ctx;

	if (value->link_id == *last_alive)
		return false;
	if (!bpf_info__is_link_alive(value->link_id))
		return true;
	*last_alive = value->link_id;
	return false;
}

int attr_entries__drop_gone(struct attr_map *map, bool waits)
{
	struct attr_entries entries __cleanup(attr_entries__clear) = {};
	__u32 last_alive = 0;
	int nr, err;

	err = attr_entries__read(&entries, map);
	return err ? err : attr_entries__drop(&entries, map, is_gone, &last_alive, waits, &nr);
}

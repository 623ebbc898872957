/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_ID_MAP_H
#define PERF_UTIL_ID_MAP_H

/* From 64-bit numbers, none of them 0, to positions: a hash table with open addressing. */

#include <stdint.h>

struct id_map {
	struct { uint64_t id; int value; } *slots;
	int nr, cap;		/* cap: 0 or a power of two */
};

/** id_map__set() - add a number or change what it maps to; 0 or -ENOMEM */
int id_map__set(struct id_map *map, uint64_t id, int value);

/** id_map__get() - what was set for a number; -1: nothing */
int id_map__get(const struct id_map *map, uint64_t id);

/** id_map__remove() - forget a number, if it is there */
void id_map__remove(struct id_map *map, uint64_t id);

/** id_map__clear() - forget all of them, free the memory */
void id_map__clear(struct id_map *map);

#endif

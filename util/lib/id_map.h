/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_ID_MAP_H
#define PERF_LIB_ID_MAP_H

/* A hash table from 64-bit numbers, except 0, to positions. Uses open addressing. */

#include <stdint.h>

struct id_map {
	struct {
		uint64_t id;
		int value;
	} * slots;
	int nr, cap; /* cap: 0 or a power of two */
};

/** id_map__set() - add a number or change what it maps to; 0 or -ENOMEM */
int id_map__set(struct id_map *map, uint64_t id, int value);

/** id_map__get() - the position of a number; -1: none */
int id_map__get(const struct id_map *map, uint64_t id);

/** id_map__remove() - remove a number, if present */
void id_map__remove(struct id_map *map, uint64_t id);

/** id_map__clear() - remove all numbers and free the memory */
void id_map__clear(struct id_map *map);

#endif

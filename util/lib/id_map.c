// SPDX-License-Identifier: GPL-2.0
#include "util/lib/id_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define GOLDEN 0x9e3779b97f4a7c15ULL

/* Keys come from files and other processes, which could choose those of one slot if they knew these numbers. */
static const uint64_t *secrets(void)
{
	static uint64_t numbers[2];

	/* Early in the boot there are no random numbers, and nobody hostile either. */
	if (!numbers[1] && getrandom(numbers, sizeof(numbers), GRND_NONBLOCK) != sizeof(numbers))
		numbers[1] = GOLDEN;
	numbers[1] |= 1;
	return numbers;
}

static int home(const struct id_map *map, uint64_t id)
{
	const uint64_t *secret = secrets();
	uint64_t hash = (id ^ secret[0]) * secret[1];

	hash ^= hash >> 32;
	return hash * GOLDEN >> (64 - __builtin_ctz(map->cap));
}

/* Return: the slot of a number, or the free slot where it belongs. */
static int find(const struct id_map *map, uint64_t id)
{
	int i = home(map, id);

	while (map->slots[i].id && map->slots[i].id != id)
		i = (i + 1) & (map->cap - 1);
	return i;
}

static void put(struct id_map *map, uint64_t id, int value)
{
	int i = find(map, id);

	map->nr += !map->slots[i].id;
	map->slots[i].id = id;
	map->slots[i].value = value;
}

static int grow(struct id_map *map)
{
	struct id_map bigger = {.cap = map->cap ? 2 * map->cap : 64};

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (int i = 0; i < map->cap; i++) {
		if (map->slots[i].id)
			put(&bigger, map->slots[i].id, map->slots[i].value);
	}
	free(map->slots);
	*map = bigger;
	return 0;
}

int id_map__set(struct id_map *map, uint64_t id, int value)
{
	if (2 * (map->nr + 1) > map->cap && grow(map))
		return -ENOMEM;
	put(map, id, value);
	return 0;
}

int id_map__get(const struct id_map *map, uint64_t id)
{
	int i;

	if (!map->cap)
		return -1;
	i = find(map, id);
	return map->slots[i].id ? map->slots[i].value : -1;
}

void id_map__remove(struct id_map *map, uint64_t id)
{
	int i, next;

	if (id_map__get(map, id) < 0)
		return;
	i = find(map, id);
	map->slots[i].id = 0;
	map->nr--;
	/* Later entries may have been displaced by this one: insert them again. */
	for (next = (i + 1) & (map->cap - 1); map->slots[next].id;
	     next = (next + 1) & (map->cap - 1)) {
		uint64_t other = map->slots[next].id;
		int value = map->slots[next].value;

		map->slots[next].id = 0;
		map->nr--;
		put(map, other, value);
	}
}

void id_map__clear(struct id_map *map)
{
	free(map->slots);
	memset(map, 0, sizeof(*map));
}

// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/lib/id_map.h"

#define NR 1000

static uint64_t id_of(int i)
{
	/* In order and far apart, like the ids of cgroups */
	return i % 2 ? (uint64_t)i + 1 : (uint64_t)i << 32 | 1;
}

static void numbers_are_found_until_removed(void **state)
{
	struct id_map map = {};

	(void)state;
	assert_int_equal(id_map__get(&map, 1), -1);
	id_map__remove(&map, 1);
	for (int i = 0; i < NR; i++)
		assert_int_equal(id_map__set(&map, id_of(i), i), 0);
	assert_int_equal(id_map__set(&map, id_of(3), 7777), 0);
	assert_int_equal(map.nr, NR);
	for (int i = 0; i < NR; i += 3)
		id_map__remove(&map, id_of(i));
	id_map__remove(&map, id_of(0));
	for (int i = 0; i < NR; i++)
		assert_int_equal(id_map__get(&map, id_of(i)), i % 3 ? i : -1);
	assert_int_equal(id_map__get(&map, 424242), -1);
	assert_int_equal(map.nr, NR - (NR + 2) / 3);
	id_map__clear(&map);
	assert_int_equal(id_map__get(&map, id_of(1)), -1);
}

static void removing_keeps_displaced_numbers(void **state)
{
	struct id_map map = {};

	(void)state;
	/* Keep the map as full as it gets, so that entries displace each other. */
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 31; i++)
			assert_int_equal(id_map__set(&map, 1 + i * (round + 1), i), 0);
		for (int i = 0; i < 31; i++) {
			id_map__remove(&map, 1 + i * (round + 1));
			for (int j = 0; j < 31; j++)
				assert_int_equal(id_map__get(&map, 1 + j * (round + 1)),
						 j <= i ? -1 : j);
		}
		assert_int_equal(map.nr, 0);
	}
	assert_int_equal(map.cap, 64);
	id_map__clear(&map);
}

/* A former version multiplied by this number, and took the upper half. */
#define FORMER 0x9e3779b97f4a7c15ULL

/* Return: the number whose product with another is 1, modulo 2^64. */
static uint64_t inverse(uint64_t odd)
{
	uint64_t inverse = odd;

	for (int i = 0; i < 6; i++)
		inverse *= 2 - odd * inverse;
	return inverse;
}

static int longest_run(const struct id_map *map)
{
	int longest = 0, run = 0;

	for (int i = 0; i < 2 * map->cap; i++) {
		run = map->slots[i % map->cap].id ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

static void nobody_can_choose_numbers_of_one_slot(void **state)
{
	struct id_map map = {};

	(void)state;
	assert_true(inverse(FORMER) * FORMER == 1);
	for (int i = 0; i < NR; i++)
		assert_int_equal(id_map__set(&map, (i + 1) * inverse(FORMER), i), 0);
	/* The longest run of a random half of all slots is 40 or so; one in 10^20 of such halves has 250. */
	assert_in_range(longest_run(&map), 1, NR / 4);
	id_map__clear(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_found_until_removed),
		cmocka_unit_test(removing_keeps_displaced_numbers),
		cmocka_unit_test(nobody_can_choose_numbers_of_one_slot),
	};

	return cmocka_run_group_tests_name("id_map", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* Wrong numbers in shared tables: every walk ends, and stays within the tables. */
#include "scope_set_world.h"

#include <unistd.h>

#define SECONDS 20 /* an endless loop fails the test after this time */

/* Make two scope sets, with or without scopes, each of which is the parent of the other. */
static void make_ring(struct world *world, int a, int b)
{
	world->scope_set[a].parent = b;
	world->scope_set[b].parent = a;
}

static void walks_over_rings_of_parents_end(void **state)
{
	struct world *world = *state;
	int low = add_scope(world, 1, true), high = add_scope_of(world, 1, 2, true);
	int a = with(world, 0, low), b = with(world, a, high);

	alarm(SECONDS);
	make_ring(world, a, b);
	assert_false(scope_set__contain(&world->c, a, high + 1));
	assert_true(scope_set__contain(&world->c, b, low));
	assert_return_code(scope_set__with(&world->c, b, high + 1), 0);
	assert_return_code(scope_set__without(&world->c, b, 0), 0);
	alarm(0);
}

static void walks_over_rings_of_pool_entries_end(void **state)
{
	struct world *world = *state;
	int scope = add_scope(world, 1, false), set = add_set(world, 1);
	int a = scope_set__add_pool_entry(&world->c, set),
	    b = scope_set__add_pool_entry(&world->c, set);

	alarm(SECONDS);
	make_ring(world, a, b);
	assert_false(scope_set__contain(&world->c, a, scope));
	assert_return_code(scope_set__with(&world->c, a, scope), 0);
	assert_int_equal(scope_set__without(&world->c, a, 0), 0);
	alarm(0);
}

static void a_walk_starts_at_no_scope_set_beyond_the_table(void **state)
{
	struct world *world = *state;
	int nr = 0;

	for_each_parent(&world->c, walk, MAX_SCOPE_SETS)
		nr++;
	for_each_parent(&world->c, walk, ~0U)
		nr++;
	assert_int_equal(nr, 0);
}

static void ids_out_of_range_are_ignored(void **state)
{
	struct world *world = *state;
	int scope = add_scope(world, 0x0f, true), scope_set = with(world, 0, scope);
	struct scope_sets_view view;
	struct sum sum = {};
	const __u64 seq = 0;
	const struct cpu_event at = {3, 0, &seq};

	world->scope_set[scope_set].set = ~0U;
	assert_int_equal(scope_set__event(&world->c, scope_set, 0), -1);
	world->scope_set[scope_set].parent = world->scope_set[scope_set].scope = MAX_SCOPE_SETS;
	assert_false(scope_set__contain(&world->c, scope_set, scope));
	assert_true(scope_set__of_cgroups(&world->c, scope_set));
	/* Its cell is beyond all chunks, and then beyond its own chunk. */
	world->scope_set[scope_set].cell = ~0U;
	scope_set__begin_read(&world->c, &view);
	assert_int_equal(scope_set__add_sum(&world->c, &view, scope_set, &at, &sum), 0);
	world->scope_set[scope_set].cell = CHUNK_CELLS - 1;
	assert_int_equal(scope_set__add_sum(&world->c, &view, scope_set, &at, &sum), 0);
	assert_int_equal(scope_set__merge_into(&world->c, scope_set, 0), 0);
}

static void sets_hold_no_more_than_they_can(void **state)
{
	struct world *world = *state;
	int a = add_set(world, 0x0f), b = add_set(world, 0xf0);

	world->set[a].nr = ~0U;
	for (int i = 0; i < SET_EVENTS; i++)
		world->set[a].slot[i] = 2 * i;
	assert_int_equal(event_set__union(&world->c, a, b), -E2BIG);
	world->reg->nr_scope_sets = world->reg->nr_scopes = ~0U;
	world->reg->merge = MERGE(~0U, 0x7fffffffU, 1);
	assert_int_equal(scope_set__repair(&world->c), 0);
	assert_int_equal(world->reg->merge, 0);
	assert_return_code(add_set(world, 0xff), 0);
}

static void a_cpu_that_stays_in_a_change_is_an_error(void **state)
{
	struct world *world = *state;
	int scope_set = with(world, 0, add_scope(world, 1, true));
	const __u64 seq = 1;
	const struct cpu_event at = {0, 0, &seq};
	struct scope_sets_view view;
	struct sum sum = {};

	alarm(SECONDS);
	scope_set__begin_read(&world->c, &view);
	assert_int_equal(scope_set__add_sum(&world->c, &view, scope_set, &at, &sum), -EAGAIN);
	assert_int_equal(sum.counter, 0);
	alarm(0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(walks_over_rings_of_parents_end),
		TEST(walks_over_rings_of_pool_entries_end),
		TEST(a_walk_starts_at_no_scope_set_beyond_the_table),
		TEST(ids_out_of_range_are_ignored),
		TEST(sets_hold_no_more_than_they_can),
		TEST(a_cpu_that_stays_in_a_change_is_an_error),
	};

	return cmocka_run_group_tests_name("scope_set_wrong", tests, NULL, NULL);
}

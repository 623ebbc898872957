// SPDX-License-Identifier: GPL-2.0
/* Merges by sessions that have too little memory, and merges that others could not finish. */
#include "scope_set_world.h"

/* Task 0 is counted by the scope a; tasks 1 and 2 were also counted by b and c, and have left these. */
struct leaving {
	struct world *world;
	int a, from[2], into;
};

static struct leaving leave(struct world *world)
{
	struct leaving l = {.world = world, .a = add_scope_of(world, 1, 0x0f, true)};

	walk_task(world, 0, l.a);
	for (int i = 0; i < 2; i++) {
		int other = add_scope_of(world, 2 + i, 0xff, true);

		walk_task(world, 1 + i, l.a);
		walk_task(world, 1 + i, other);
		l.from[i] = world->task[1 + i].scope_set;
	}
	run_all(world);
	l.into = world->task[0].scope_set;
	for (int i = 0; i < 2; i++) {
		world->task[1 + i].scope_set = l.into;
		world->task[1 + i].scopes = world->task[0].scopes;
	}
	world->living = world->task[0].scopes;
	return l;
}

static int merge(const struct leaving *l, int i)
{
	return scope_set__merge_into(&l->world->c, l->from[i], l->into);
}

/* Check that a merge which has failed has changed nothing. */
static void check_unmerged(const struct leaving *l, int i)
{
	assert_int_equal(l->world->reg->scope_set_gen % 2, 0);
	assert_int_equal(l->world->reg->merge, 0);
	assert_int_equal(l->world->scope_set[l->from[i]].state, REG_READY);
	check_totals(l->world);
}

static void a_merge_needs_carry_cells(void **state)
{
	const struct leaving l = leave(*state);

	l.world->fail_chunk = ENOSPC;
	assert_int_equal(merge(&l, 0), -ENOSPC);
	check_unmerged(&l, 0);
	l.world->fail_chunk = 0;
	assert_int_equal(merge(&l, 0), 0);
	/* Now they are there. */
	l.world->fail_chunk = ENOSPC;
	assert_int_equal(merge(&l, 1), 0);
	assert_int_equal(nr_scope_sets(l.world), 1);
	check_totals(l.world);
}

static void a_merge_needs_its_cells_mapped(void **state)
{
	const struct leaving l = leave(*state);

	for (int i = 0; i < 2; i++) {
		l.world->is_poor = true;
		assert_int_equal(merge(&l, i), -ENOMEM);
		l.world->is_poor = false;
		check_unmerged(&l, i);
		assert_int_equal(merge(&l, i), 0);
		check_totals(l.world);
	}
	assert_int_equal(nr_scope_sets(l.world), 1);
}

static __u64 count(const struct leaving *l)
{
	return total(l->world, l->a, 0).counter;
}

/* The map of carry cells is gone, although the registry names it. */
static void lose_carries(struct world *world)
{
	free(world->carry[0]);
	world->carry[0] = NULL;
	assert_true(world->reg->carry_ids[0]);
}

static void carry_cells_that_are_gone_are_made_anew(void **state)
{
	const struct leaving l = leave(*state);
	__u64 before = count(&l), after;

	assert_int_equal(merge(&l, 0), 0);
	assert_int_equal(count(&l), before);
	lose_carries(l.world);
	assert_int_equal(merge(&l, 1), 0);
	/* The first merge is lost, the second one is not. */
	after = count(&l);
	assert_in_range(after, 1, before - 1);
	run_all(l.world);
	assert_true(count(&l) > after);
	/* Now the cells to give up have lost theirs. */
	after = count(&l);
	lose_carries(l.world);
	assert_int_equal(scope_set__merge_into(&l.world->c, l.into, 0), 0);
	assert_int_equal(nr_scope_sets(l.world), 0);
}

static void merge_first(void *ctx)
{
	merge(ctx, 0);
}

/* A session that cannot map the cells leaves everything to one that can. */
static void leave_it_decided(const struct leaving *l)
{
	struct world *world = l->world;
	__u64 merge_before = world->reg->merge;

	world->is_poor = true;
	assert_int_equal(scope_set__repair(&world->c), -ENOMEM);
	assert_int_equal(merge(l, 1), -ENOMEM);
	world->is_poor = false;
	assert_true(world->reg->merge == merge_before);
	check_totals(world);
}

static void a_decided_merge_waits_for_a_session_with_memory(void **state)
{
	int nr_left = 0;
	bool died = true;

	for (int step = 0; died; step++) {
		struct leaving l;

		teardown(state);
		setup(state);
		l = leave(*state);
		died = crash__at(step, merge_first, &l);
		/* Freed, but not yet forgotten, it has no cells any more. */
		if (died && l.world->reg->merge &&
		    l.world->scope_set[l.from[0]].state == REG_READY) {
			leave_it_decided(&l);
			nr_left++;
		}
		assert_int_equal(scope_set__repair(&l.world->c), 0);
		check_totals(l.world);
		if (l.world->scope_set[l.from[0]].state == REG_READY)
			assert_int_equal(merge(&l, 0), 0);
		assert_int_equal(merge(&l, 1), 0);
		check_totals(l.world);
		check_cells(l.world);
	}
	/* merge-decided, merge-switched, merge-zeroed */
	assert_int_equal(nr_left, 3);
}

/* A set of many events. */
static int add_large_set(struct world *world, int nr)
{
	__u16 slots[SET_EVENTS];
	__u8 is_switches[SET_EVENTS] = {};

	for (int i = 0; i < nr; i++)
		slots[i] = i;
	return event_set__add(&world->c, slots, is_switches, nr);
}

static void large_sets_use_all_of_a_chunk(void **state)
{
	struct world *world = *state;
	const int nr = CHUNK_CELLS / 3;
	int set = add_large_set(world, nr), scope_set[3];
	const __u64 seq = 0;
	struct scope_sets_view view;

	for (int i = 0; i < 3; i++) {
		scope_set[i] = scope_set__add_pool_entry(&world->c, set);
		assert_int_equal(world->scope_set[scope_set[i]].cell, i * nr);
	}
	assert_int_equal(world->nr_chunks_made, 1);
	for (int cell = 0; cell < 3 * nr; cell++)
		world->chunk[0][1].cell[cell].counter = 1000 * (cell / nr) + cell % nr;
	/* The carry cells of the second lie in two maps. */
	assert_int_equal(scope_set__merge_into(&world->c, scope_set[0], scope_set[1]), 0);
	assert_int_equal(scope_set__merge_into(&world->c, scope_set[1], scope_set[2]), 0);
	scope_set__begin_read(&world->c, &view);
	for (int event = 0; event < nr; event++) {
		const struct cpu_event at = {event, 1, &seq};
		struct sum sum = {};

		assert_int_equal(scope_set__add_sum(&world->c, &view, scope_set[2], &at, &sum), 0);
		assert_int_equal(sum.counter, 3000 + 3 * event);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_merge_needs_carry_cells),
		TEST(a_merge_needs_its_cells_mapped),
		TEST(carry_cells_that_are_gone_are_made_anew),
		TEST(a_decided_merge_waits_for_a_session_with_memory),
		TEST(large_sets_use_all_of_a_chunk),
	};

	return cmocka_run_group_tests_name("scope_set_poor", tests, NULL, NULL);
}

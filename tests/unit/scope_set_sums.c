// SPDX-License-Identifier: GPL-2.0
/* The sums of scopes: after any history, and after a death at any step. */
#include "scope_set_world.h"

#include <stdio.h>
#include <time.h>

#define DYING 3 /* the session that dies; all others live */

/* --- sums --- */

static void a_scope_counts_its_tasks_beside_any_other_scopes(void **state)
{
	struct world *world = *state;
	int a = add_scope(world, 0x07, true), b = add_scope(world, 0x1c, false);

	walk_task(world, 0, a);
	run_all(world);
	walk_task(world, 0, b);
	fork_task(world, 0, 1);
	run_all(world);
	run_all(world);
	assert_int_not_equal(total(world, a, 2).counter, total(world, b, 2).counter);
	check(world);
	remove_scope(world, b);
	check(world);
	run_all(world);
	remove_scope(world, a);
	check(world);
	assert_int_equal(nr_scope_sets(world), 0);
}

static void readers_notice_a_merge(void **state)
{
	struct world *world = *state;
	int a = add_scope(world, 1, true), b = add_scope(world, 2, true);
	struct scope_sets_view view;

	walk_task(world, 0, a);
	walk_task(world, 0, b);
	scope_set__begin_read(&world->c, &view);
	assert_true(scope_set__end_read(&world->c, &view));
	remove_scope(world, b);
	assert_false(scope_set__end_read(&world->c, &view));
}

/* Sum of the failed slices of all scope sets with a scope. */
static __u64 failed(struct world *world, int scope)
{
	__u32 nr = scope_set__nr(&world->c);
	__u64 sum = 0;

	for (__u32 i = 1; i < nr; i++) {
		if (world->c.scope_set[i].state != REG_READY)
			continue;
		for_each_parent(&world->c, walk, i) {
			if (walk.scope == (__u32)scope)
				sum += world->c.scope_set[i].failed;
		}
	}
	return sum;
}

static void failed_slices_stay_with_the_scopes_that_remain(void **state)
{
	struct world *world = *state;
	int a = add_scope(world, 1, true), b = add_scope(world, 2, true);
	__u64 before;

	walk_task(world, 0, a);
	walk_task(world, 0, b);
	for (__u32 i = 1; i < scope_set__nr(&world->c); i++)
		world->c.scope_set[i].failed = 1 << i;
	assert_int_not_equal(failed(world, a), failed(world, b));
	before = failed(world, a);
	remove_scope(world, b);
	assert_int_equal(failed(world, a), before);
	remove_scope(world, a);
	assert_int_equal(failed(world, a), 0);
}

static void short_sessions_leave_no_scope_sets_behind(void **state)
{
	struct world *world = *state;
	int witness = add_scope(world, 0x3, true), scope_sets;

	walk_task(world, 0, witness);
	scope_sets = nr_scope_sets(world);
	for (int i = 0; i < 1000; i++) {
		int scope = add_scope(world, 1 << pick(world, NR_SLOTS), pick(world, 2));

		walk_task(world, 0, scope);
		run_all(world);
		remove_scope(world, scope);
		assert_int_equal(nr_scope_sets(world), scope_sets);
		assert_in_range(world->reg->nr_scope_sets, 1, 8);
	}
	check(world);
	assert_int_equal(world->nr_chunks_made, 1);
}

static void any_history_of_scopes_and_tasks_is_counted_exactly(void **state)
{
	struct world *world = *state;
	const char *given = getenv("SEED");
	__u64 seed = given ? strtoull(given, NULL, 0) : (__u64)time(NULL);

	print_message("SEED=%llu\n", (unsigned long long)seed);
	world->random = seed;
	for (int i = 0; i < 3000; i++) {
		int task = pick(world, NR_TASKS), scope = 1 + pick(world, 6);

		switch (pick(world, 8)) {
		case 0:
			if (__builtin_popcount(world->living) < 6)
				add_scope(world, 1 + pick(world, 0xffff), pick(world, 2));
			break;
		case 1:
			if (world->living >> scope & 1)
				remove_scope(world, scope);
			break;
		case 2:
			fork_task(world, task, pick(world, NR_TASKS));
			break;
		case 3:
			world->task[task] = (struct task){};
			break;
		case 4:
		case 5:
			if (world->living >> scope & 1)
				walk_task(world, task, scope);
			break;
		default:
			run_task(world, task);
		}
		if (i % 16 == 0)
			check(world);
	}
	check(world);
	for (int scope = 1; scope < NR_MODELS; scope++) {
		if (world->living >> scope & 1)
			remove_scope(world, scope);
	}
	check(world);
	assert_int_equal(nr_scope_sets(world), 0);
}

/* --- death at every step --- */

/* Add two sessions that live, one of them without children; they count together and alone. */
static void populate(struct world *world)
{
	int a = add_scope_of(world, 1, 0x0f, true), b = add_scope_of(world, 2, 0x3c, false);

	walk_task(world, 0, a);
	walk_task(world, 1, b);
	walk_task(world, 2, a);
	walk_task(world, 2, b);
	run_all(world);
}

/* Run a session that counts two rows of tasks that others also count, and leaves. */
static void live(void *ctx)
{
	struct world *world = ctx;
	int first, second;

	scope_set__repair(&world->c);
	first = add_scope_of(world, DYING, 0xf0, true);
	second = add_scope_of(world, DYING, 0x101, false);
	for (int i = 0; i < 4; i++) {
		walk_task(world, i, first);
		run_all(world);
	}
	walk_task(world, 2, second);
	walk_task(world, 5, second);
	fork_task(world, 2, 6);
	run_all(world);
	remove_scope(world, first);
	run_all(world);
	remove_scope(world, second);
}

/* Repair the tables as the next session does after another died. */
static void repair(void *ctx)
{
	struct world *world = ctx;

	give_back(world);
	scope_set__repair(&world->c);
	for (__u32 i = 1; i < world->reg->nr_scopes; i++) {
		if (world->reg->scope[i].session == DYING + 1)
			remove_scope(world, i);
	}
}

/* Remove the dead session from the model, with the scopes of its tasks. */
static void bury(struct world *world)
{
	for (int i = 0; i < NR_TASKS; i++)
		for (int scope = 3; scope < NR_MODELS; scope++)
			world->task[i].scopes &= ~(1U << scope);
	world->living &= 0x6;
}

static const struct world *watched;
static int nr_looks;
static struct scope_sets_view first_view, last_view;

/*
 * Read as another session, also while this one is stopped in the middle of a merge. The reader
 * never waits, its totals are right, and no two merges look the same to it.
 */
static void look(void)
{
	struct scope_sets_view view;

	scope_set__begin_read(&watched->c, &view);
	if (!nr_looks++)
		first_view = view;
	check_totals(watched);
	assert_true(scope_set__end_read(&watched->c, &view));
	assert_true(view.gen >= last_view.gen);
	last_view = view;
}

static void readers_always_get_exact_totals(void **state)
{
	struct world *world = *state;

	populate(world);
	watched = world;
	on_step = look;
	live(world);
	on_step = NULL;
	check(world);
	assert_in_range(nr_looks, 50, 1000);
	assert_true(last_view.gen > first_view.gen);
}

static void a_death_at_any_step_is_repaired_by_the_next_session(void **state)
{
	struct world *world = *state;
	struct crash_names seen = {};
	int step, scope_sets;

	populate(world);
	scope_sets = nr_scope_sets(world);
	for (step = 0; crash__at(step, live, world); step++) {
		crash__note(&seen);
		repair(world);
		bury(world);
		check(world);
		assert_int_equal(nr_scope_sets(world), scope_sets);
		run_all(world);
		check(world);
	}
	check(world);
	assert_int_equal(nr_scope_sets(world), scope_sets);
	/* The loop has reached all steps. */
	assert_in_range(step, 50, 1000);
	assert_in_range(seen.nr, 13, 64);
}

/* A session at an interval: it adds and removes a row, and leaves to others what a dead one left. */
static void hurry(struct world *world)
{
	int scope;

	give_back(world);
	scope = add_scope_of(world, 4, 0x3f, true);
	for (int i = 0; i < 4; i++)
		walk_task(world, i, scope);
	run_all(world);
	remove_scope(world, scope);
	run_all(world);
}

static void a_session_that_does_not_repair_is_right_after_a_death_at_any_step(void **state)
{
	struct world *world = *state;
	int scope_sets, step;

	populate(world);
	scope_sets = nr_scope_sets(world);
	watched = world;
	for (step = 0; crash__at(step, live, world); step++) {
		bury(world);
		last_view = (struct scope_sets_view){};
		on_step = look;
		hurry(world);
		on_step = NULL;
		check_totals(world);
		repair(world);
		check(world);
		assert_int_equal(nr_scope_sets(world), scope_sets);
	}
	assert_in_range(step, 50, 1000);
}

/* The part of a world that sessions change. */
struct saved {
	struct world world;
	struct registry reg;
	struct reg_scope_set scope_set[64];
	struct reg_set set[64];
	struct sum_block chunk[NR_CPUS];
	struct carry_block carry[CHUNK_CELLS / CARRY_CELLS][NR_CPUS];
};

static void save(const struct world *world, struct saved *to)
{
	to->world = *world;
	to->reg = *world->reg;
	memcpy(to->scope_set, world->scope_set, sizeof(to->scope_set));
	memcpy(to->set, world->set, sizeof(to->set));
	memcpy(to->chunk, world->chunk[0], sizeof(to->chunk));
	for (int i = 0; i < CHUNK_CELLS / CARRY_CELLS; i++) {
		if (world->carry[i])
			memcpy(to->carry[i], world->carry[i], sizeof(to->carry[i]));
	}
}

/* Carry cells may have been made, or made anew, since they were saved. */
static void restore_carry(struct world *world, const struct saved *from, int place)
{
	if (!from->world.carry[place]) {
		free(world->carry[place]);
		world->carry[place] = NULL;
	} else {
		memcpy(world->carry[place], from->carry[place], sizeof(from->carry[place]));
	}
}

static void restore(struct world *world, const struct saved *from)
{
	struct carry_block *carry[NR_CARRIES];

	for (int i = 0; i < CHUNK_CELLS / CARRY_CELLS; i++)
		restore_carry(world, from, i);
	memcpy(carry, world->carry, sizeof(carry));
	*world = from->world;
	memcpy(world->carry, carry, sizeof(carry));
	*world->reg = from->reg;
	memcpy(world->scope_set, from->scope_set, sizeof(from->scope_set));
	memcpy(world->set, from->set, sizeof(from->set));
	memcpy(world->chunk[0], from->chunk, sizeof(from->chunk));
}

static void a_death_during_repair_is_also_repaired(void **state)
{
	struct world *world = *state;
	struct saved *saved = malloc(sizeof(*saved));
	int scope_sets, nr = 0;

	populate(world);
	scope_sets = nr_scope_sets(world);
	for (int first = 0; crash__at(first, live, world); first++) {
		bool died = true;

		save(world, saved);
		/* Die at each step of the repair, each time from the same state. */
		for (int second = 0; died; second++, nr++) {
			restore(world, saved);
			died = crash__at(second, repair, world);
			if (died)
				repair(world);
			bury(world);
			run_all(world);
			check_totals(world);
			assert_int_equal(nr_scope_sets(world), scope_sets);
			if (!died || nr % 8 == 0)
				check(world);
		}
	}
	assert_in_range(nr, 500, 100000);
	free(saved);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_scope_counts_its_tasks_beside_any_other_scopes),
		TEST(readers_notice_a_merge),
		TEST(failed_slices_stay_with_the_scopes_that_remain),
		TEST(short_sessions_leave_no_scope_sets_behind),
		TEST(any_history_of_scopes_and_tasks_is_counted_exactly),
		TEST(readers_always_get_exact_totals),
		TEST(a_death_at_any_step_is_repaired_by_the_next_session),
		TEST(a_session_that_does_not_repair_is_right_after_a_death_at_any_step),
		TEST(a_death_during_repair_is_also_repaired),
	};

	return cmocka_run_group_tests_name("scope_set_sums", tests, NULL, NULL);
}

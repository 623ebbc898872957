// SPDX-License-Identifier: GPL-2.0
/* What scopes have counted, in any history, and after a death at any step of it. */
#include "classes_world.h"

#include <stdio.h>
#include <time.h>

#define DYING 3			/* the run that dies; others live */

/* --- sums --- */

static void a_scope_counts_what_its_tasks_do_in_any_company(void **state)
{
	struct world *world = *state;
	int a = add_scope(world, 0x07, true), b = add_scope(world, 0x1c, false);

	mark(world, 0, a);
	run_all(world);
	mark(world, 0, b);
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
	assert_int_equal(nr_classes(world), 0);
}

static void a_move_of_sums_is_seen_by_readers(void **state)
{
	struct world *world = *state;
	int a = add_scope(world, 1, true), b = add_scope(world, 2, true);
	__s64 gen;

	mark(world, 0, a);
	mark(world, 0, b);
	gen = classes__begin_read(&world->c);
	assert_return_code(gen, 0);
	assert_true(classes__end_read(&world->c, gen));
	remove_scope(world, b);
	assert_false(classes__end_read(&world->c, gen));
	/* In the middle of one there is nothing to read; if it stays so, somebody died. */
	world->reg->class_gen++;
	assert_int_equal(classes__begin_read(&world->c), -1);
	classes__repair(&world->c);
	assert_return_code(classes__begin_read(&world->c), 0);
}

static void short_runs_leave_no_classes_behind(void **state)
{
	struct world *world = *state;
	int witness = add_scope(world, 0x3, true), classes;

	mark(world, 0, witness);
	classes = nr_classes(world);
	for (int i = 0; i < 1000; i++) {
		int scope = add_scope(world, 1 << pick(world, NR_SLOTS), pick(world, 2));

		mark(world, 0, scope);
		run_all(world);
		remove_scope(world, scope);
		assert_int_equal(nr_classes(world), classes);
		assert_in_range(world->reg->nr_classes, 1, 8);
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
		case 4: case 5:
			if (world->living >> scope & 1)
				mark(world, task, scope);
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
	assert_int_equal(nr_classes(world), 0);
}

/* --- death at every step --- */

/* Two runs that live, one of them without children, in company and alone. */
static void populate(struct world *world)
{
	int a = add_scope_of(world, 1, 0x0f, true), b = add_scope_of(world, 2, 0x3c, false);

	mark(world, 0, a);
	mark(world, 1, b);
	mark(world, 2, a);
	mark(world, 2, b);
	run_all(world);
}

/* A run that counts two rows of tasks that others count, too, and goes. */
static void live(void *ctx)
{
	struct world *world = ctx;
	int first, second;

	classes__repair(&world->c);
	first = add_scope_of(world, DYING, 0xf0, true);
	second = add_scope_of(world, DYING, 0x101, false);
	for (int i = 0; i < 4; i++) {
		mark(world, i, first);
		run_all(world);
	}
	mark(world, 2, second);
	mark(world, 5, second);
	fork_task(world, 2, 6);
	run_all(world);
	remove_scope(world, first);
	run_all(world);
	remove_scope(world, second);
}

/* What the next run does after one died. */
static void repair(void *ctx)
{
	struct world *world = ctx;

	give_back(world);
	classes__repair(&world->c);
	for (__u32 i = 1; i < world->reg->nr_scopes; i++) {
		if (world->reg->scope[i].run == DYING + 1)
			remove_scope(world, i);
	}
}

/* What a task of the dead was marked with does not matter; the model follows what is in the table. */
static void bury(struct world *world)
{
	for (int i = 0; i < NR_TASKS; i++)
		for (int scope = 3; scope < NR_MODELS; scope++)
			world->task[i].scopes &= ~(1U << scope);
	world->living &= 0x6;
}

static const struct world *watched;
static int nr_looks, nr_readings;

/* Another run reads: what it gets is right, or it knows that it is not. */
static void look(void)
{
	__s64 gen = watched->reg->class_gen;

	nr_looks++;
	if (gen & 1)
		return;
	nr_readings++;
	check_totals(watched);
	assert_true(classes__end_read(&watched->c, gen));
}

static void readers_are_never_deceived(void **state)
{
	struct world *world = *state;

	populate(world);
	watched = world;
	on_step = look;
	live(world);
	on_step = NULL;
	check(world);
	assert_in_range(nr_looks, 50, 1000);
	assert_in_range(nr_readings, 20, nr_looks - 10);
}

static void death_at_any_step_is_repaired_by_the_next_run(void **state)
{
	struct world *world = *state;
	struct crash_names seen = {};
	int step, classes;

	populate(world);
	classes = nr_classes(world);
	for (step = 0; crash__at(step, live, world); step++) {
		crash__note(&seen);
		repair(world);
		bury(world);
		check(world);
		assert_int_equal(nr_classes(world), classes);
		run_all(world);
		check(world);
	}
	check(world);
	assert_int_equal(nr_classes(world), classes);
	/* The walk has been everywhere. */
	assert_in_range(step, 50, 1000);
	assert_in_range(seen.nr, 13, 64);
}

/* All of a world that a run changes. */
struct saved {
	struct world world;
	struct registry reg;
	struct reg_class class[64];
	struct reg_set set[64];
	struct sum_block chunk[NR_CPUS];
};

static void save(const struct world *world, struct saved *to)
{
	to->world = *world;
	to->reg = *world->reg;
	memcpy(to->class, world->class, sizeof(to->class));
	memcpy(to->set, world->set, sizeof(to->set));
	memcpy(to->chunk, world->chunk[0], sizeof(to->chunk));
}

static void restore(struct world *world, const struct saved *from)
{
	*world = from->world;
	*world->reg = from->reg;
	memcpy(world->class, from->class, sizeof(from->class));
	memcpy(world->set, from->set, sizeof(from->set));
	memcpy(world->chunk[0], from->chunk, sizeof(from->chunk));
}

static void death_during_repair_is_repaired_too(void **state)
{
	struct world *world = *state;
	struct saved *saved = malloc(sizeof(*saved));
	int classes, nr = 0;

	populate(world);
	classes = nr_classes(world);
	for (int first = 0; crash__at(first, live, world); first++) {
		bool died = true;

		save(world, saved);
		/* Every step of the repair of that state, each from the same beginning. */
		for (int second = 0; died; second++, nr++) {
			restore(world, saved);
			died = crash__at(second, repair, world);
			if (died)
				repair(world);
			bury(world);
			run_all(world);
			check_totals(world);
			assert_int_equal(nr_classes(world), classes);
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
		TEST(a_scope_counts_what_its_tasks_do_in_any_company),
		TEST(a_move_of_sums_is_seen_by_readers),
		TEST(short_runs_leave_no_classes_behind),
		TEST(any_history_of_scopes_and_tasks_is_counted_exactly),
		TEST(readers_are_never_deceived),
		TEST(death_at_any_step_is_repaired_by_the_next_run),
		TEST(death_during_repair_is_repaired_too),
	};

	return cmocka_run_group_tests_name("classes_sums", tests, NULL, NULL);
}

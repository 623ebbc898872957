// SPDX-License-Identifier: GPL-2.0
/* Which classes there are: sets of events, sets of scopes, full tables, cgroups. */
#include "classes_world.h"

/* --- sets --- */

static void equal_sets_of_events_are_one(void **state)
{
	struct world *world = *state;
	int a = add_set(world, 0x0f), b = add_set(world, 0x3c);
	const __u16 slots[] = { 0, 1, 2, 3 };
	const __u8 none[] = { 0, 0, 0, 0 }, first[] = { 1, 0, 0, 1 };

	assert_in_range(a, 1, MAX_SETS - 1);
	assert_int_not_equal(a, b);
	assert_int_equal(add_set(world, 0x0f), a);
	assert_int_equal(add_set(world, 0), 0);
	/* A slot is given to other events in the course of time. */
	assert_int_not_equal(classes__add_set(&world->c, slots, none, 4), a);
	assert_int_equal(classes__add_set(&world->c, slots, first, 4), a);
	assert_int_equal(world->set[a].nr, 4);
	check_set(world, a);
	check_set(world, b);
}

static void a_class_counts_the_events_of_all_its_scopes(void **state)
{
	struct world *world = *state;
	int a = add_scope(world, 0x0b, true), b = add_scope(world, 0xc6, true);
	int class = with(world, with(world, 0, a), b);

	assert_int_equal(set_mask(world, world->class[class].set), 0xcf);
	assert_int_equal(classes__event(&world->c, class, 0), 0);
	assert_int_equal(classes__event(&world->c, class, 7), 5);
	assert_int_equal(classes__event(&world->c, class, 4), -1);
	check(world);
}

static void sets_in_use_are_never_given_away(void **state)
{
	struct world *world = *state;
	int scope = add_scope(world, 0x8000, true), other = add_scope(world, 0x4001, true);
	int class = with(world, with(world, 0, scope), other), nr = 0, set;
	const struct reg_set before = world->set[world->class[class].set];

	/* All others are made and abandoned, many times over. */
	for (__u32 mask = 1; mask < 3 * MAX_SETS; mask++)
		assert_return_code(add_set(world, mask), 0);
	assert_memory_equal(&before, &world->set[world->class[class].set], sizeof(before));
	check(world);
	/* Until all of them are somebody's. */
	for (__u32 mask = 1; (set = add_set(world, mask)) > 0; mask++)
		nr += classes__add_scope(&world->c, 0, set, true, 0) > 0;
	assert_int_equal(set, -ENOSPC);
	/* Those of the two scopes and of both of them; 0 is the empty one. */
	assert_in_range(nr, FOR_JOINING(MAX_SETS) - 4, FOR_JOINING(MAX_SETS) + 2);
	assert_memory_equal(&before, &world->set[world->class[class].set], sizeof(before));
}

/* The set of a class must not be taken for that of its children while neither of them is there. */
static void a_class_and_its_children_get_sets_of_their_own_from_a_used_up_table(void **state)
{
	struct world *world = *state;
	int stays = add_scope(world, 0x11, false), goes = add_scope(world, 0x22, true);
	int last = add_scope(world, 0x44, true), class = with(world, with(world, 0, stays), goes);

	for (__u32 mask = 0x100; mask < 0x100 + 2 * MAX_SETS; mask++)
		assert_return_code(add_set(world, mask), 0);
	class = with(world, class, last);
	assert_int_equal(set_mask(world, world->class[class].set), 0x77);
	assert_int_equal(set_mask(world, world->class[world->class[class].child].set), 0x66);
	check(world);
}

static void too_many_events_are_refused_and_leave_nothing(void **state)
{
	struct world *world = *state;
	__u16 slots[SET_EVENTS + 1];
	__u8 is_switches[SET_EVENTS + 1] = {};
	int a, b, class;

	for (int i = 0; i <= SET_EVENTS; i++)
		slots[i] = 2 * i;
	assert_int_equal(classes__add_set(&world->c, slots, is_switches, SET_EVENTS + 1), -E2BIG);
	a = classes__add_set(&world->c, slots, is_switches, SET_EVENTS);
	assert_return_code(a, 0);
	a = classes__add_scope(&world->c, 0, a, true, 0);
	/* One more event, and one that the other has already. */
	slots[0] = 1;
	b = classes__add_scope(&world->c, 0, classes__add_set(&world->c, slots, is_switches, 2), true, 0);
	class = classes__with(&world->c, 0, a);
	assert_return_code(class, 0);
	assert_int_equal(classes__with(&world->c, class, b), -E2BIG);
	assert_int_equal(nr_classes(world), 1);
	/* The other way round the smaller class has been made; it is no obstacle. */
	assert_int_equal(classes__with(&world->c, classes__with(&world->c, 0, b), a), -E2BIG);
	assert_int_equal(nr_classes(world), 2);
	assert_int_equal(classes__with(&world->c, 0, a), class);
}

/* --- classes --- */

static void a_set_of_scopes_is_one_class_whatever_the_order(void **state)
{
	static const int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					 { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	struct world *world = *state;
	int scope[3], all = 0;

	for (int i = 0; i < 3; i++)
		scope[i] = add_scope(world, 3 << i, true);
	for (int o = 0; o < 6; o++) {
		int class = 0;

		for (int i = 0; i < 3; i++)
			class = with(world, class, scope[orders[o][i]]);
		assert_int_equal(with(world, class, scope[orders[o][0]]), class);
		assert_true(!all || class == all);
		all = class;
	}
	for (int o = 0; o < 6; o++) {
		int class = all;

		for (int i = 0; i < 3; i++) {
			assert_true(classes__contain(&world->c, class, scope[orders[o][i]]));
			class = without(world, class, scope[orders[o][i]]);
			assert_false(classes__contain(&world->c, class, scope[orders[o][i]]));
			assert_int_equal(without(world, class, scope[orders[o][i]]),
					 class);
		}
		assert_int_equal(class, 0);
	}
	/* Three scopes make 7 sets and no more. */
	assert_int_equal(nr_classes(world), 7);
	check(world);
}

static void leaving_makes_no_class_with_scopes_of_the_run(void **state)
{
	struct world *world = *state;
	int stays = add_scope(world, 1, true), class = with(world, 0, stays), all = class, nr;

	for (int i = 0; i < 4; i++)
		all = with(world, all, classes__add_scope(&world->c, 1 + i % 2, 0, true, 0));
	nr = nr_classes(world);
	/* 1, {of run 1, of run 2, of run 1, of run 2} */
	assert_int_equal(classes__without(&world->c, all, 3), all);
	assert_int_equal(nr_classes(world), nr);
	assert_int_equal(world->class[classes__without(&world->c, all, 1)].scope,
			 world->class[all].scope);
	assert_int_equal(nr_classes(world), nr + 2);
	assert_int_equal(classes__without(&world->c, classes__without(&world->c, all, 1), 2), class);
	assert_int_equal(nr_classes(world), nr + 2);
}

static void children_get_the_scopes_that_inherit(void **state)
{
	struct world *world = *state;
	int a = add_scope(world, 1, false), b = add_scope(world, 2, true);
	int c = add_scope(world, 4, false), d = add_scope(world, 8, true);
	int class = with(world, with(world, with(world, with(world, 0, d), c), b), a);
	int child = world->class[class].child;

	assert_int_equal(child, with(world, with(world, 0, b), d));
	assert_int_equal(world->class[child].child, child);
	assert_int_equal(world->class[with(world, 0, a)].child, 0);
	assert_int_equal(world->class[with(world, with(world, 0, a), c)].child, 0);
	check(world);
}

static void cells_fill_chunks_without_straddling_them(void **state)
{
	struct world *world = *state;
	int a, b, class = 0, nr = 0;

	/* 15 and 16 events do not divide a chunk: something stays empty at its end. */
	a = add_scope(world, 0x7fff, true);
	b = add_scope(world, 0x8001, true);
	assert_int_equal(world->nr_chunks_made, 0);
	world->task[0].class = with(world, with(world, 0, a), b);
	world->task[0].scopes = 1U << a | 1U << b;
	assert_int_equal(world->nr_chunks_made, 1);
	/* Classes of scopes that the model does not know; what is full is full at once. */
	for (int i = 0; world->nr_chunks_made == 1; i++, nr++) {
		int scope = classes__add_scope(&world->c, 0, world->reg->scope[i % 2 ? a : b].set, true, 0);

		class = classes__with(&world->c, 0, scope);
		assert_return_code(class, 0);
	}
	assert_int_equal(world->class[class].cell, CHUNK_CELLS);
	assert_in_range(nr, CHUNK_CELLS / 15 - 2, CHUNK_CELLS / 2);
	check_cells(world);
	run_all(world);
	check_totals(world);
}

static void a_chunk_that_cannot_be_made_is_an_error_and_no_class(void **state)
{
	struct world *world = *state;
	int scope = add_scope(world, 7, true);

	world->fail_chunk = ENOMEM;
	assert_int_equal(classes__with(&world->c, 0, scope), -ENOMEM);
	assert_int_equal(nr_classes(world), 0);
	check(world);
	world->fail_chunk = 0;
	assert_return_code(classes__with(&world->c, 0, scope), 0);
	check(world);
}

/* A class that nobody reaches, for tables that are full. */
static void occupy(struct world *world, int class, int set, int cell)
{
	world->class[class] = (struct reg_class){
		.state = REG_READY, .base = class, .scope = 99, .set = set, .cell = cell,
	};
	if ((__u32)class >= world->reg->nr_classes)
		world->reg->nr_classes = class + 1;
}

static void full_tables_are_errors(void **state)
{
	struct world *world = *state;
	__u16 slots[SET_EVENTS];
	__u8 is_switches[SET_EVENTS] = {};
	int a, b, full, class;

	for (int i = 0; i < SET_EVENTS; i++)
		slots[i] = i;
	full = classes__add_set(&world->c, slots, is_switches, SET_EVENTS);
	a = classes__add_scope(&world->c, 0, full, true, 0);
	b = add_scope(world, 1, true);
	class = with(world, 0, a);
	while (world->reg->nr_scopes < MAX_SCOPES)
		assert_return_code(classes__add_scope(&world->c, 0, 0, true, 0), 0);
	assert_int_equal(classes__add_scope(&world->c, 0, 0, true, 0), -ENOSPC);
	classes__free_scope(&world->c, 77);
	assert_int_equal(classes__add_scope(&world->c, 0, 0, true, 0), 77);

	/* All cells are somebody's. */
	for (int i = 2; i <= FOR_JOINING(MAX_CELLS) / SET_EVENTS; i++)
		occupy(world, i, full, (i - 1) * SET_EVENTS);
	assert_int_equal(classes__with(&world->c, 0, b), -ENOSPC);
	assert_int_equal(classes__with(&world->c, class, b), -ENOSPC);
	assert_int_equal(world->c.full, FULL_CELLS);
	/* All classes are, though none of them has cells. */
	for (int i = 2; i < FOR_JOINING(MAX_CLASSES); i++)
		occupy(world, i, 0, 0);
	assert_int_equal(classes__with(&world->c, class, b), -ENOSPC);
	assert_int_equal(world->c.full, FULL_CLASSES);
	assert_int_equal(classes__with(&world->c, class, a), class);
	world->class[500].state = REG_FREE;
	assert_int_equal(classes__with(&world->c, class, b), 500);
}

/* What joining may not take is there for those who end. */
static void a_run_can_leave_full_tables(void **state)
{
	struct world *world = *state;
	int a = add_scope(world, 1, true), b = add_scope(world, 2, true), last = add_scope(world, 4, true);
	int class = with(world, with(world, with(world, 0, a), b), last), smaller;

	for (int i = 1; i < FOR_JOINING(MAX_CLASSES); i++) {
		if (world->class[i].state == REG_FREE)
			occupy(world, i, 0, 0);
	}
	assert_int_equal(classes__with(&world->c, 0, b), -ENOSPC);
	smaller = without(world, class, a);
	assert_in_range(smaller, FOR_JOINING(MAX_CLASSES), MAX_CLASSES - 1);
	assert_false(classes__contain(&world->c, smaller, a));
	assert_true(classes__contain(&world->c, smaller, b));
	assert_true(classes__contain(&world->c, smaller, last));
	assert_int_equal(classes__with(&world->c, 0, last), -ENOSPC);
}

/* --- cgroups --- */

static int add_cgroup_scope(struct world *world, __u32 mask, __u64 cgroup)
{
	int scope = classes__add_scope(&world->c, 0, add_set(world, mask), false, cgroup);

	assert_in_range(scope, 1, NR_MODELS - 1);
	return scope;
}

static __u64 sum_of(struct world *world, int class, int slot)
{
	static const __u64 seq;
	struct sum total = {};

	for (int cpu = 0; cpu < NR_CPUS; cpu++)
		classes__add_sum(&world->c, class, classes__event(&world->c, class, slot), cpu, &seq,
				 &total);
	return total.counter;
}

static void classes_are_of_tasks_or_of_cgroups(void **state)
{
	struct world *world = *state;
	int task = add_scope(world, 1, true), cgroup = add_cgroup_scope(world, 2, 77);

	assert_false(classes__of_cgroups(&world->c, 0));
	assert_false(classes__of_cgroups(&world->c, with(world, 0, task)));
	assert_true(classes__of_cgroups(&world->c, with(world, 0, cgroup)));
	/* Events of tasks are none of cgroups'. */
	assert_int_equal(set_mask(world, classes__cgroups_set(&world->c)), 2);
	add_cgroup_scope(world, 8, 78);
	assert_int_equal(set_mask(world, classes__cgroups_set(&world->c)), 10);
}

static void a_newborn_belongs_to_whom_its_base_does(void **state)
{
	struct world *world = *state;
	int above = add_cgroup_scope(world, 3, 1), own, base, class, newborn;

	base = with(world, 0, above);
	newborn = classes__add_newborn(&world->c, classes__cgroups_set(&world->c));
	assert_in_range(newborn, 1, MAX_CLASSES - 1);
	assert_true(classes__is_newborn(&world->c, newborn));
	assert_false(classes__is_newborn(&world->c, base));
	assert_true(classes__of_cgroups(&world->c, newborn));
	assert_false(classes__is_newborn(&world->c, 0));
	assert_false(classes__contain(&world->c, newborn, above));
	/* A program gives it to a cgroup, and it counts. */
	world->class[newborn].base = base;
	assert_true(classes__contain(&world->c, newborn, above));
	fake_block(world, 0, 1)->cell[world->class[newborn].cell + 1].counter = 5;
	fake_block(world, 0, 0)->cell[world->class[base].cell + 1].counter = 7;
	/* Another set with the same base is another class. */
	own = add_cgroup_scope(world, 2, 9);
	class = with(world, base, own);
	assert_int_not_equal(class, newborn);
	world->class[newborn].base = class;
	assert_true(classes__contain(&world->c, newborn, own));
	assert_true(classes__contain(&world->c, newborn, above));
	assert_int_equal(sum_of(world, newborn, 1), 5);
	classes__fold(&world->c, newborn, class);
	assert_int_equal(world->class[newborn].state, REG_FREE);
	assert_int_equal(sum_of(world, class, 1), 5);
	assert_int_equal(sum_of(world, base, 1), 7);
}

static void a_dropped_scope_is_nobodys(void **state)
{
	struct world *world = *state;
	int scope = add_cgroup_scope(world, 1, 5);

	classes__drop_scope(&world->c, scope);
	assert_int_equal(world->reg->scope[scope].run, NO_RUN + 1);
	assert_int_not_equal(add_cgroup_scope(world, 1, 6), scope);
	classes__free_scope(&world->c, scope);
	assert_int_equal(add_cgroup_scope(world, 1, 7), scope);
}

static void cells_are_found_behind_many(void **state)
{
	struct world *world = *state;
	int set = add_set(world, 7), first = 0;

	for (int i = 0; i < 100; i++) {
		int class = classes__add_newborn(&world->c, set);

		first = first ? first : class;
		assert_int_equal(world->class[class].cell, 3 * i);
	}
	classes__fold(&world->c, first + 30, 0);
	assert_int_equal(world->class[classes__add_newborn(&world->c, set)].cell, 90);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(equal_sets_of_events_are_one),
		TEST(a_class_counts_the_events_of_all_its_scopes),
		TEST(sets_in_use_are_never_given_away),
		TEST(a_class_and_its_children_get_sets_of_their_own_from_a_used_up_table),
		TEST(too_many_events_are_refused_and_leave_nothing),
		TEST(a_set_of_scopes_is_one_class_whatever_the_order),
		TEST(leaving_makes_no_class_with_scopes_of_the_run),
		TEST(children_get_the_scopes_that_inherit),
		TEST(cells_fill_chunks_without_straddling_them),
		TEST(a_chunk_that_cannot_be_made_is_an_error_and_no_class),
		TEST(full_tables_are_errors),
		TEST(a_run_can_leave_full_tables),
		TEST(classes_are_of_tasks_or_of_cgroups),
		TEST(a_newborn_belongs_to_whom_its_base_does),
		TEST(a_dropped_scope_is_nobodys),
		TEST(cells_are_found_behind_many),
	};

	return cmocka_run_group_tests_name("classes", tests, NULL, NULL);
}

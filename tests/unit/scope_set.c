// SPDX-License-Identifier: GPL-2.0
/* The tables of scope sets: sets of events, sets of scopes, full tables, cgroups. */
#include "scope_set_world.h"

/* --- sets --- */

static void equal_sets_of_events_are_one(void **state)
{
	struct world *world = *state;
	int a = add_set(world, 0x0f), b = add_set(world, 0x3c);
	const __u16 slots[] = {0, 1, 2, 3};
	const __u8 none[] = {0, 0, 0, 0}, first[] = {1, 0, 0, 1};

	assert_in_range(a, 1, MAX_SETS - 1);
	assert_int_not_equal(a, b);
	assert_int_equal(add_set(world, 0x0f), a);
	assert_int_equal(add_set(world, 0), 0);
	/* The registry gives a slot to other events in the course of time. */
	assert_int_not_equal(event_set__add(&world->c, slots, none, 4), a);
	assert_int_equal(event_set__add(&world->c, slots, first, 4), a);
	assert_int_equal(world->set[a].nr, 4);
	check_set(world, a);
	check_set(world, b);
}

static void a_scope_set_counts_the_events_of_all_its_scopes(void **state)
{
	struct world *world = *state;
	int a = add_scope(world, 0x0b, true), b = add_scope(world, 0xc6, true);
	int scope_set = with(world, with(world, 0, a), b);

	assert_int_equal(set_mask(world, world->scope_set[scope_set].set), 0xcf);
	assert_int_equal(scope_set__event(&world->c, scope_set, 0), 0);
	assert_int_equal(scope_set__event(&world->c, scope_set, 7), 5);
	assert_int_equal(scope_set__event(&world->c, scope_set, 4), -1);
	check(world);
}

static void sets_in_use_are_never_given_away(void **state)
{
	struct world *world = *state;
	int scope = add_scope(world, 0x8000, true), other = add_scope(world, 0x4001, true);
	int scope_set = with(world, with(world, 0, scope), other), nr = 0, set;
	const struct reg_set before = world->set[world->scope_set[scope_set].set];

	/* Make and abandon all other sets, many times over. */
	for (__u32 mask = 1; mask < 3 * MAX_SETS; mask++)
		assert_return_code(add_set(world, mask), 0);
	assert_memory_equal(&before, &world->set[world->scope_set[scope_set].set], sizeof(before));
	check(world);
	/* Until a scope set uses each of them. */
	for (__u32 mask = 1; (set = add_set(world, mask)) > 0; mask++)
		nr += scope_set__add_scope(&world->c, 0, set, true, 0) > 0;
	assert_int_equal(set, -ENOSPC);
	/* 4 are in use: the empty set 0, the sets of the two scopes, and of both together. */
	assert_in_range(nr, FOR_JOINING(MAX_SETS) - 4, FOR_JOINING(MAX_SETS) + 2);
	assert_memory_equal(&before, &world->set[world->scope_set[scope_set].set], sizeof(before));
}

/* The set of a scope set must not become that of its children while neither scope set exists. */
static void a_scope_set_and_its_children_get_two_event_sets_from_a_full_table(void **state)
{
	struct world *world = *state;
	int stays = add_scope(world, 0x11, false), goes = add_scope(world, 0x22, true);
	int last = add_scope(world, 0x44, true),
	    scope_set = with(world, with(world, 0, stays), goes);

	for (__u32 mask = 0x100; mask < 0x100 + 2 * MAX_SETS; mask++)
		assert_return_code(add_set(world, mask), 0);
	scope_set = with(world, scope_set, last);
	assert_int_equal(set_mask(world, world->scope_set[scope_set].set), 0x77);
	assert_int_equal(set_mask(world, world->scope_set[world->scope_set[scope_set].child].set),
			 0x66);
	check(world);
}

static void too_many_events_are_refused_and_leave_nothing(void **state)
{
	struct world *world = *state;
	__u16 slots[SET_EVENTS + 1];
	__u8 is_switches[SET_EVENTS + 1] = {};
	int a, b, scope_set;

	for (int i = 0; i <= SET_EVENTS; i++)
		slots[i] = 2 * i;
	assert_int_equal(event_set__add(&world->c, slots, is_switches, SET_EVENTS + 1), -E2BIG);
	a = event_set__add(&world->c, slots, is_switches, SET_EVENTS);
	assert_return_code(a, 0);
	a = scope_set__add_scope(&world->c, 0, a, true, 0);
	/* One more event, and one that the other scope already has. */
	slots[0] = 1;
	b = scope_set__add_scope(&world->c, 0, event_set__add(&world->c, slots, is_switches, 2),
				 true, 0);
	scope_set = scope_set__with(&world->c, 0, a);
	assert_return_code(scope_set, 0);
	assert_int_equal(scope_set__with(&world->c, scope_set, b), -E2BIG);
	assert_int_equal(nr_scope_sets(world), 1);
	/* The other order makes the smaller scope set first, which does not matter. */
	assert_int_equal(scope_set__with(&world->c, scope_set__with(&world->c, 0, b), a), -E2BIG);
	assert_int_equal(nr_scope_sets(world), 2);
	assert_int_equal(scope_set__with(&world->c, 0, a), scope_set);
}

/* --- scope sets --- */

static void scopes_added_in_any_order_make_one_scope_set(void **state)
{
	static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
					{1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
	struct world *world = *state;
	int scope[3], all = 0;

	for (int i = 0; i < 3; i++)
		scope[i] = add_scope(world, 3 << i, true);
	for (int o = 0; o < 6; o++) {
		int scope_set = 0;

		for (int i = 0; i < 3; i++)
			scope_set = with(world, scope_set, scope[orders[o][i]]);
		assert_int_equal(with(world, scope_set, scope[orders[o][0]]), scope_set);
		assert_true(!all || scope_set == all);
		all = scope_set;
	}
	for (int o = 0; o < 6; o++) {
		int scope_set = all;

		for (int i = 0; i < 3; i++) {
			assert_true(scope_set__contain(&world->c, scope_set, scope[orders[o][i]]));
			scope_set = without(world, scope_set, scope[orders[o][i]]);
			assert_false(scope_set__contain(&world->c, scope_set, scope[orders[o][i]]));
			assert_int_equal(without(world, scope_set, scope[orders[o][i]]), scope_set);
		}
		assert_int_equal(scope_set, 0);
	}
	/* Three scopes make exactly 7 sets. */
	assert_int_equal(nr_scope_sets(world), 7);
	check(world);
}

static void a_leaving_session_makes_no_scope_set_with_its_own_scopes(void **state)
{
	struct world *world = *state;
	int stays = add_scope(world, 1, true), scope_set = with(world, 0, stays), all = scope_set,
	    nr;

	for (int i = 0; i < 4; i++)
		all = with(world, all, scope_set__add_scope(&world->c, 1 + i % 2, 0, true, 0));
	nr = nr_scope_sets(world);
	/* It has `stays`, and 4 scopes of sessions 1, 2, 1 and 2. */
	assert_int_equal(scope_set__without(&world->c, all, 3), all);
	assert_int_equal(nr_scope_sets(world), nr);
	assert_int_equal(world->scope_set[scope_set__without(&world->c, all, 1)].scope,
			 world->scope_set[all].scope);
	assert_int_equal(nr_scope_sets(world), nr + 2);
	assert_int_equal(scope_set__without(&world->c, scope_set__without(&world->c, all, 1), 2),
			 scope_set);
	assert_int_equal(nr_scope_sets(world), nr + 2);
}

static void children_get_the_scopes_that_inherit(void **state)
{
	struct world *world = *state;
	int a = add_scope(world, 1, false), b = add_scope(world, 2, true);
	int c = add_scope(world, 4, false), d = add_scope(world, 8, true);
	int scope_set = with(world, with(world, with(world, with(world, 0, d), c), b), a);
	int child = world->scope_set[scope_set].child;

	assert_int_equal(child, with(world, with(world, 0, b), d));
	assert_int_equal(world->scope_set[child].child, child);
	assert_int_equal(world->scope_set[with(world, 0, a)].child, 0);
	assert_int_equal(world->scope_set[with(world, with(world, 0, a), c)].child, 0);
	check(world);
}

static void cells_fill_chunks_without_straddling_them(void **state)
{
	struct world *world = *state;
	int a, b, scope_set = 0, nr = 0;

	/* 15 and 16 events do not divide the cells of a carry_block: its end stays empty. */
	a = add_scope(world, 0x7fff, true);
	b = add_scope(world, 0x8001, true);
	assert_int_equal(world->nr_chunks_made, 0);
	world->task[0].scope_set = with(world, with(world, 0, a), b);
	world->task[0].scopes = 1U << a | 1U << b;
	assert_int_equal(world->nr_chunks_made, 1);
	/* Use scope sets of scopes that the model does not know, until the chunk is full. */
	for (int i = 0; world->nr_chunks_made == 1; i++, nr++) {
		int scope = scope_set__add_scope(&world->c, 0, world->reg->scope[i % 2 ? a : b].set,
						 true, 0);

		scope_set = scope_set__with(&world->c, 0, scope);
		assert_return_code(scope_set, 0);
	}
	assert_int_equal(world->scope_set[scope_set].cell, CHUNK_CELLS);
	assert_in_range(nr, CHUNK_CELLS / CARRY_CELLS * (CARRY_CELLS / 16) - 3, CHUNK_CELLS / 2);
	check_cells(world);
	run_all(world);
	check_totals(world);
}

static void a_chunk_that_cannot_be_made_is_an_error_and_no_scope_set(void **state)
{
	struct world *world = *state;
	int scope = add_scope(world, 7, true);

	world->fail_chunk = ENOMEM;
	assert_int_equal(scope_set__with(&world->c, 0, scope), -ENOMEM);
	assert_int_equal(nr_scope_sets(world), 0);
	check(world);
	world->fail_chunk = 0;
	assert_return_code(scope_set__with(&world->c, 0, scope), 0);
	check(world);
}

/* Occupy a scope set that no task reaches, to fill the tables. */
static void occupy(struct world *world, int scope_set, int set, int cell)
{
	world->scope_set[scope_set] = (struct reg_scope_set){
		.state = REG_READY,
		.parent = scope_set,
		.scope = 99,
		.set = set,
		.cell = cell,
	};
	if ((__u32)scope_set >= world->reg->nr_scope_sets)
		world->reg->nr_scope_sets = scope_set + 1;
}

static void full_tables_are_errors(void **state)
{
	struct world *world = *state;
	__u16 slots[SET_EVENTS];
	__u8 is_switches[SET_EVENTS] = {};
	int a, b, full, scope_set;

	for (int i = 0; i < SET_EVENTS; i++)
		slots[i] = i;
	full = event_set__add(&world->c, slots, is_switches, SET_EVENTS);
	a = scope_set__add_scope(&world->c, 0, full, true, 0);
	b = add_scope(world, 1, true);
	scope_set = with(world, 0, a);
	while (world->reg->nr_scopes < MAX_SCOPES)
		assert_return_code(scope_set__add_scope(&world->c, 0, 0, true, 0), 0);
	assert_int_equal(scope_set__add_scope(&world->c, 0, 0, true, 0), -ENOSPC);
	scope_set__free_scope(&world->c, 77);
	assert_int_equal(scope_set__add_scope(&world->c, 0, 0, true, 0), 77);

	/* All cells belong to a scope set. */
	for (int i = 2; i <= FOR_JOINING(MAX_CELLS) / SET_EVENTS; i++)
		occupy(world, i, full, (i - 1) * SET_EVENTS);
	assert_int_equal(scope_set__with(&world->c, 0, b), -ENOSPC);
	assert_int_equal(scope_set__with(&world->c, scope_set, b), -ENOSPC);
	assert_int_equal(world->c.full, FULL_CELLS);
	/* All scope sets are in use, but none of them has cells. */
	for (int i = 2; i < FOR_JOINING(MAX_SCOPE_SETS); i++)
		occupy(world, i, 0, 0);
	assert_int_equal(scope_set__with(&world->c, scope_set, b), -ENOSPC);
	assert_int_equal(world->c.full, FULL_SCOPE_SETS);
	assert_int_equal(scope_set__with(&world->c, scope_set, a), scope_set);
	world->scope_set[500].state = REG_FREE;
	assert_int_equal(scope_set__with(&world->c, scope_set, b), 500);
}

/* Joining sessions may use only a part of each table; the rest is for sessions that end. */
static void a_session_can_leave_full_tables(void **state)
{
	struct world *world = *state;
	int a = add_scope(world, 1, true), b = add_scope(world, 2, true),
	    last = add_scope(world, 4, true);
	int scope_set = with(world, with(world, with(world, 0, a), b), last), smaller;

	for (int i = 1; i < FOR_JOINING(MAX_SCOPE_SETS); i++) {
		if (world->scope_set[i].state == REG_FREE)
			occupy(world, i, 0, 0);
	}
	assert_int_equal(scope_set__with(&world->c, 0, b), -ENOSPC);
	smaller = without(world, scope_set, a);
	assert_in_range(smaller, FOR_JOINING(MAX_SCOPE_SETS), MAX_SCOPE_SETS - 1);
	assert_false(scope_set__contain(&world->c, smaller, a));
	assert_true(scope_set__contain(&world->c, smaller, b));
	assert_true(scope_set__contain(&world->c, smaller, last));
	assert_int_equal(scope_set__with(&world->c, 0, last), -ENOSPC);
}

/* --- cgroups --- */

static int add_cgroup_scope(struct world *world, __u32 mask, __u64 cgroup)
{
	int scope = scope_set__add_scope(&world->c, 0, add_set(world, mask), false, cgroup);

	assert_in_range(scope, 1, NR_MODELS - 1);
	return scope;
}

static __u64 sum_of(struct world *world, int scope_set, int slot)
{
	static const __u64 seq;
	const struct scope_sets_view view = {};
	struct sum total = {};

	for (int cpu = 0; cpu < NR_CPUS; cpu++) {
		const struct cpu_event at = {scope_set__event(&world->c, scope_set, slot), cpu,
					     &seq};

		scope_set__add_sum(&world->c, &view, scope_set, &at, &total);
	}
	return total.counter;
}

static void a_scope_set_belongs_to_tasks_or_to_cgroups(void **state)
{
	struct world *world = *state;
	int task = add_scope(world, 1, true), cgroup = add_cgroup_scope(world, 2, 77);

	assert_false(scope_set__of_cgroups(&world->c, 0));
	assert_false(scope_set__of_cgroups(&world->c, with(world, 0, task)));
	assert_true(scope_set__of_cgroups(&world->c, with(world, 0, cgroup)));
}

static void the_union_of_two_sets_has_their_events(void **state)
{
	struct world *world = *state;
	int a = add_set(world, 0x0b), b = add_set(world, 0xc6),
	    both = event_set__union(&world->c, a, b);

	assert_int_equal(set_mask(world, both), 0xcf);
	assert_int_equal(event_set__union(&world->c, both, a), both);
	assert_int_equal(event_set__union(&world->c, 0, a), a);
	assert_true(event_set__contains(&world->c, both, a));
	assert_true(event_set__contains(&world->c, a, a));
	assert_true(event_set__contains(&world->c, a, 0));
	assert_false(event_set__contains(&world->c, a, both));
	assert_false(event_set__contains(&world->c, 0, a));
}

/* A program may give the set of a pool entry to a new cgroup at any time. */
static void the_event_set_of_the_pool_is_never_given_away(void **state)
{
	struct world *world = *state;
	int scope_set = with(world, 0, add_cgroup_scope(world, 3, 1));

	world->scope_set[scope_set].pool_set = add_set(world, 0x73);
	world->scope_set[0].pool_set = add_set(world, 0x70);
	for (__u32 mask = 1; mask < 3 * MAX_SETS; mask++)
		assert_return_code(add_set(world, mask), 0);
	assert_int_equal(set_mask(world, world->scope_set[scope_set].pool_set), 0x73);
	assert_int_equal(set_mask(world, world->scope_set[0].pool_set), 0x70);
}

/* The pool entry has cells for more events than its cgroup needs. */
static void a_pool_entry_of_fewer_events_leaves_its_other_cells(void **state)
{
	struct world *world = *state;
	int large = add_set(world, 0xff), small = add_set(world, 0x11);
	int first = scope_set__add_pool_entry(&world->c, large), next;

	world->scope_set[first].set = small;
	next = scope_set__add_pool_entry(&world->c, small);
	assert_int_equal(world->scope_set[next].cell, world->scope_set[first].cell + 2);
	fake_block(world, 0, 0)->cell[world->scope_set[first].cell + 1].counter = 5;
	fake_block(world, 0, 0)->cell[world->scope_set[next].cell].counter = 7;
	scope_set__merge_into(&world->c, first, 0);
	assert_int_equal(sum_of(world, next, 0), 7);
}

/* A wider scope set counts events that a new cgroup lacked, and takes over its counts. */
static void a_pool_entry_is_merged_into_a_wider_one(void **state)
{
	struct world *world = *state;
	int parent = with(world, 0, add_cgroup_scope(world, 3, 1));
	int old = scope_set__add_pool_entry(&world->c, add_set(world, 3)), wide;

	world->scope_set[old].parent = parent;
	fake_block(world, 0, 1)->cell[world->scope_set[old].cell + 1].counter = 5;
	parent = with(world, parent, add_cgroup_scope(world, 0xc, 1));
	wide = scope_set__add_pool_entry(&world->c, add_set(world, 0xf));
	world->scope_set[old].parent = world->scope_set[wide].parent = parent;
	fake_block(world, 0, 0)->cell[world->scope_set[wide].cell + 2].counter = 9;
	scope_set__merge_into(&world->c, old, wide);
	assert_int_equal(sum_of(world, wide, 1), 5);
	assert_int_equal(sum_of(world, wide, 2), 9);
}

static void a_new_cgroup_counts_for_its_parent(void **state)
{
	struct world *world = *state;
	int above = add_cgroup_scope(world, 3, 1), own, parent, scope_set, pool_entry;

	parent = with(world, 0, above);
	pool_entry = scope_set__add_pool_entry(&world->c, add_set(world, 3));
	assert_in_range(pool_entry, 1, MAX_SCOPE_SETS - 1);
	assert_true(scope_set__is_pool_entry(&world->c, pool_entry));
	assert_false(scope_set__is_pool_entry(&world->c, parent));
	assert_true(scope_set__of_cgroups(&world->c, pool_entry));
	assert_false(scope_set__is_pool_entry(&world->c, 0));
	assert_false(scope_set__contain(&world->c, pool_entry, above));
	/* A program gives the pool entry to a cgroup, which then counts. */
	world->scope_set[pool_entry].parent = parent;
	assert_true(scope_set__contain(&world->c, pool_entry, above));
	fake_block(world, 0, 1)->cell[world->scope_set[pool_entry].cell + 1].counter = 5;
	fake_block(world, 0, 0)->cell[world->scope_set[parent].cell + 1].counter = 7;
	/* Another set with the same parent is another scope set. */
	own = add_cgroup_scope(world, 2, 9);
	scope_set = with(world, parent, own);
	assert_int_not_equal(scope_set, pool_entry);
	world->scope_set[pool_entry].parent = scope_set;
	assert_true(scope_set__contain(&world->c, pool_entry, own));
	assert_true(scope_set__contain(&world->c, pool_entry, above));
	assert_int_equal(sum_of(world, pool_entry, 1), 5);
	scope_set__merge_into(&world->c, pool_entry, scope_set);
	assert_int_equal(world->scope_set[pool_entry].state, REG_FREE);
	assert_int_equal(sum_of(world, scope_set, 1), 5);
	assert_int_equal(sum_of(world, parent, 1), 7);
}

static void a_dropped_scope_belongs_to_no_session(void **state)
{
	struct world *world = *state;
	int scope = add_cgroup_scope(world, 1, 5);

	scope_set__drop_scope(&world->c, scope);
	assert_int_equal(world->reg->scope[scope].session, NO_SESSION + 1);
	assert_int_not_equal(add_cgroup_scope(world, 1, 6), scope);
	scope_set__free_scope(&world->c, scope);
	assert_int_equal(add_cgroup_scope(world, 1, 7), scope);
}

/* Where the cells of the n-th set of three events lie: no set is in two chunks. */
static int nth_cell_of_three(int n)
{
	const int nr = CHUNK_CELLS / 3;

	return n / nr * CHUNK_CELLS + 3 * (n % nr);
}

static void freed_cells_among_many_are_used_again(void **state)
{
	struct world *world = *state;
	int set = add_set(world, 7), first = 0;

	for (int i = 0; i < 100; i++) {
		int scope_set = scope_set__add_pool_entry(&world->c, set);

		first = first ? first : scope_set;
		assert_int_equal(world->scope_set[scope_set].cell, nth_cell_of_three(i));
	}
	scope_set__merge_into(&world->c, first + 30, 0);
	assert_int_equal(world->scope_set[scope_set__add_pool_entry(&world->c, set)].cell,
			 nth_cell_of_three(30));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(equal_sets_of_events_are_one),
		TEST(a_scope_set_counts_the_events_of_all_its_scopes),
		TEST(sets_in_use_are_never_given_away),
		TEST(a_scope_set_and_its_children_get_two_event_sets_from_a_full_table),
		TEST(too_many_events_are_refused_and_leave_nothing),
		TEST(scopes_added_in_any_order_make_one_scope_set),
		TEST(a_leaving_session_makes_no_scope_set_with_its_own_scopes),
		TEST(children_get_the_scopes_that_inherit),
		TEST(cells_fill_chunks_without_straddling_them),
		TEST(a_chunk_that_cannot_be_made_is_an_error_and_no_scope_set),
		TEST(full_tables_are_errors),
		TEST(a_session_can_leave_full_tables),
		TEST(a_scope_set_belongs_to_tasks_or_to_cgroups),
		TEST(the_union_of_two_sets_has_their_events),
		TEST(the_event_set_of_the_pool_is_never_given_away),
		TEST(a_pool_entry_of_fewer_events_leaves_its_other_cells),
		TEST(a_pool_entry_is_merged_into_a_wider_one),
		TEST(a_new_cgroup_counts_for_its_parent),
		TEST(a_dropped_scope_belongs_to_no_session),
		TEST(freed_cells_among_many_are_used_again),
	};

	return cmocka_run_group_tests_name("scope_set", tests, NULL, NULL);
}

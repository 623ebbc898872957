// SPDX-License-Identifier: GPL-2.0
/*
 * Scopes, classes and sums without BPF: tasks are an array, the "kernel" adds to cells, and a model
 * that knows nothing of classes says what each scope must have counted. Runs die at every step.
 */
#include "util/classes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define NR_CPUS 2
#define NR_TASKS 12
#define NR_SLOTS 16		/* of events that the model knows */
#define NR_MODELS 16		/* scopes that it can follow; the numbers of scopes are below that */
#define NR_CHUNKS 2
#define MAX_STEPS 64

struct task {
	__u32 class;
	__u32 scopes;		/* the same, as the model sees it: bit per scope */
};

struct world {
	struct registry *reg;
	struct reg_class *class;
	struct reg_set *set;
	struct sum_block *chunk[NR_CHUNKS];
	int nr_chunks_made;
	int fail_chunk;		/* errno of the next one, 0: works */
	struct task task[NR_TASKS];
	__u64 model[NR_MODELS][NR_SLOTS];
	__u32 living;		/* bit per scope */
	__u64 random;
	struct classes c;
	/* one that is removed alone has a run of its own for the time */
	struct { int scope; __u32 run; } alone;
};

/* Where a "process" dies: at the n-th step it passes; the jump is its SIGKILL. */
static struct {
	jmp_buf env;
	int countdown;			/* -1: never */
	const char *name;		/* of the step it died at */
} crash = { .countdown = -1 };

/* A reader that comes by at every step; NULL: none. */
static const struct world *watched;
static int nr_looks, nr_readings;

static void look(void);

static void fake_step(const char *name)
{
	if (watched)
		look();
	if (crash.countdown < 0 || crash.countdown--)
		return;
	crash.name = name;
	longjmp(crash.env, 1);
}

static struct sum_block *fake_block(void *ctx, int chunk, int cpu)
{
	struct world *world = ctx;

	assert_in_range(chunk, 0, MAX_CHUNKS - 1);
	assert_in_range(cpu, 0, NR_CPUS - 1);
	return chunk < NR_CHUNKS && world->chunk[chunk] ? &world->chunk[chunk][cpu] : NULL;
}

static int fake_add_chunk(void *ctx, int chunk)
{
	struct world *world = ctx;

	if (world->fail_chunk)
		return -world->fail_chunk;
	assert_in_range(chunk, 0, NR_CHUNKS - 1);
	assert_null(world->chunk[chunk]);
	fake_step("chunk-making");
	world->chunk[chunk] = calloc(NR_CPUS, sizeof(struct sum_block));
	world->nr_chunks_made++;
	fake_step("chunk-made");
	return 0;
}

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	world->reg = calloc(1, sizeof(*world->reg));
	world->reg->nr_classes = world->reg->nr_scopes = 1;
	world->class = calloc(MAX_CLASSES, sizeof(*world->class));
	world->set = calloc(MAX_SETS, sizeof(*world->set));
	world->random = 1;
	world->c = (struct classes){
		.reg = world->reg,
		.class = world->class,
		.set = world->set,
		.nr_cpus = NR_CPUS,
		.block = fake_block,
		.add_chunk = fake_add_chunk,
		.step = fake_step,
		.ctx = world,
	};
	crash.countdown = -1;
	watched = NULL;
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < NR_CHUNKS; i++)
		free(world->chunk[i]);
	free(world->reg);
	free(world->class);
	free(world->set);
	free(world);
	return 0;
}

static __u32 pick(struct world *world, __u32 nr)
{
	world->random = world->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (world->random >> 33) % nr;
}

/* A set of the slots that are bits of a mask; every third slot counts context switches. */
static int add_set(struct world *world, __u32 mask)
{
	__u16 slots[NR_SLOTS];
	__u8 is_switches[NR_SLOTS];
	int nr = 0;

	for (int slot = 0; slot < NR_SLOTS; slot++) {
		if (mask >> slot & 1) {
			is_switches[nr] = slot % 3 == 0;
			slots[nr++] = slot;
		}
	}
	return classes__add_set(&world->c, slots, is_switches, nr);
}

static int add_scope_of(struct world *world, int run, __u32 mask, bool inherits)
{
	int scope = classes__add_scope(&world->c, run, add_set(world, mask), inherits, 0);

	assert_in_range(scope, 1, NR_MODELS - 1);
	memset(world->model[scope], 0, sizeof(world->model[scope]));
	world->living |= 1U << scope;
	return scope;
}

static int add_scope(struct world *world, __u32 mask, bool inherits)
{
	return add_scope_of(world, 0, mask, inherits);
}

static int with(struct world *world, int class, int scope)
{
	int new = classes__with(&world->c, class, scope);

	assert_in_range(new, 1, MAX_CLASSES - 1);
	return new;
}

static int nr_classes(const struct world *world)
{
	int nr = 0;

	for (__u32 i = 1; i < MAX_CLASSES; i++)
		nr += world->class[i].state != REG_FREE;
	return nr;
}

/* --- the kernel --- */

static void mark(struct world *world, int task, int scope)
{
	struct task *to = &world->task[task];

	to->class = with(world, to->class, scope);
	to->scopes |= 1U << scope;
}

static void fork_task(struct world *world, int parent, int child)
{
	__u32 inheriting = 0;

	for (int scope = 1; scope < NR_MODELS; scope++) {
		if (world->living >> scope & 1 && world->reg->scope[scope].inherits)
			inheriting |= 1U << scope;
	}
	world->task[child].class = world->class[world->task[parent].class].child;
	world->task[child].scopes = world->task[parent].scopes & inheriting;
}

static bool scope_has(const struct world *world, int scope, int slot)
{
	const struct reg_set *set = &world->set[world->reg->scope[scope].set];

	return set->mask[0] >> slot & 1;
}

/* A task runs: each of its class's events counts. */
static void run_task(struct world *world, int task)
{
	const struct task *who = &world->task[task];
	const struct reg_class *class = &world->class[who->class];
	const struct reg_set *set = &world->set[class->set];
	int cpu = pick(world, NR_CPUS);

	if (!who->class)
		return;
	for (__u32 i = 0; i < set->nr; i++) {
		struct sum_block *block = fake_block(world, class->cell / CHUNK_CELLS, cpu);
		struct sum *sum = &block->cell[class->cell % CHUNK_CELLS + i];
		__u64 what = 1 + pick(world, 1000);

		sum->counter += what;
		sum->enabled_ns += 2 * what;
		sum->running_ns += 3 * what;
		for (int scope = 1; scope < NR_MODELS; scope++) {
			if (who->scopes >> scope & 1 && scope_has(world, scope, set->slot[i]))
				world->model[scope][set->slot[i]] += what;
		}
	}
}

static void run_all(struct world *world)
{
	for (int i = 0; i < NR_TASKS; i++)
		run_task(world, i);
}

/* --- the end of a scope, as util/leader_tasks.c does it --- */

static int depth(const struct world *world, int class)
{
	int nr = 0;

	for (; class; class = world->class[class].base)
		nr++;
	return nr;
}

static int deepest(const struct world *world, int scope)
{
	int found = 0;

	for (__u32 i = 1; i < world->reg->nr_classes; i++) {
		if (world->class[i].state == REG_READY && classes__contain(&world->c, i, scope) &&
		    depth(world, i) > depth(world, found))
			found = i;
	}
	return found;
}

static void give_back(struct world *world)
{
	if (world->alone.scope)
		world->reg->scope[world->alone.scope].run = world->alone.run;
	world->alone.scope = 0;
}

static int without(struct world *world, int class, int scope)
{
	int smaller;

	world->alone.scope = scope;
	world->alone.run = world->reg->scope[scope].run;
	world->reg->scope[scope].run = MAX_RUNS;
	smaller = classes__without(&world->c, class, MAX_RUNS - 1);
	give_back(world);
	return smaller;
}

static void remove_scope(struct world *world, int scope)
{
	int class;

	world->living &= ~(1U << scope);
	for (int i = 0; i < NR_TASKS; i++) {
		int to = without(world, world->task[i].class, scope);

		assert_return_code(to, 0);
		world->task[i].class = to;
		world->task[i].scopes &= ~(1U << scope);
	}
	while ((class = deepest(world, scope))) {
		int into = without(world, class, scope);

		assert_return_code(into, 0);
		classes__fold(&world->c, class, into);
	}
	classes__free_scope(&world->c, scope);
}

/* What the next run does after one died. */
static void repair(struct world *world, int dead_run)
{
	give_back(world);
	classes__repair(&world->c);
	for (__u32 i = 1; i < world->reg->nr_scopes; i++) {
		if (world->reg->scope[i].run == (__u32)dead_run + 1)
			remove_scope(world, i);
	}
}

/* --- what must hold --- */

static struct sum total(const struct world *world, int scope, int slot)
{
	const __u64 seq = 0;
	struct sum sum = {};

	for (__u32 i = 1; i < world->reg->nr_classes; i++) {
		int event;

		if (world->class[i].state != REG_READY || !classes__contain(&world->c, i, scope))
			continue;
		event = classes__event(&world->c, i, slot);
		assert_return_code(event, 0);
		for (int cpu = 0; cpu < NR_CPUS; cpu++)
			classes__add_sum(&world->c, i, event, cpu, &seq, &sum);
	}
	return sum;
}

static void check_totals(const struct world *world)
{
	for (int scope = 1; scope < NR_MODELS; scope++) {
		if (!(world->living >> scope & 1))
			continue;
		for (int slot = 0; slot < NR_SLOTS; slot++) {
			struct sum sum;

			if (!scope_has(world, scope, slot))
				continue;
			sum = total(world, scope, slot);
			assert_int_equal(sum.counter, world->model[scope][slot]);
			assert_int_equal(sum.enabled_ns, 2 * world->model[scope][slot]);
			assert_int_equal(sum.running_ns, 3 * world->model[scope][slot]);
		}
	}
}

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

static __u64 set_mask(const struct world *world, int set)
{
	return world->set[set].mask[0];
}

static void check_set(const struct world *world, int nr)
{
	const struct reg_set *set = &world->set[nr];
	__u64 mask[MASK_WORDS] = {};

	for (__u32 i = 0; i < set->nr; i++) {
		assert_true(i == 0 || set->slot[i] > set->slot[i - 1]);
		assert_int_equal(set->is_switches[i], set->slot[i] % 3 == 0);
		mask[set->slot[i] / 64] |= 1ULL << set->slot[i] % 64;
	}
	assert_memory_equal(mask, set->mask, sizeof(mask));
}

/* The cells of classes are their own; all others are empty, whoever had them. */
static void check_cells(const struct world *world)
{
	static const struct sum zero;
	static __u8 used[NR_CHUNKS * CHUNK_CELLS];

	memset(used, 0, sizeof(used));
	for (__u32 i = 1; i < world->reg->nr_classes; i++) {
		const struct reg_class *class = &world->class[i];
		__u32 nr = world->set[class->set].nr;

		if (class->state != REG_READY || !nr)
			continue;
		assert_int_equal(class->cell / CHUNK_CELLS, (class->cell + nr - 1) / CHUNK_CELLS);
		assert_non_null(fake_block((void *)world, class->cell / CHUNK_CELLS, 0));
		for (__u32 n = 0; n < nr; n++)
			assert_false(used[class->cell + n]++);
	}
	for (int cell = 0; cell < NR_CHUNKS * CHUNK_CELLS; cell++) {
		if (used[cell] || !world->chunk[cell / CHUNK_CELLS])
			continue;
		for (int cpu = 0; cpu < NR_CPUS; cpu++) {
			const struct sum_block *block = &world->chunk[cell / CHUNK_CELLS][cpu];
			int at = cell % CHUNK_CELLS;

			assert_memory_equal(&block->cell[at], &zero, sizeof(zero));
			assert_memory_equal(&block->carry[0][at], &zero, sizeof(zero));
			assert_memory_equal(&block->carry[1][at], &zero, sizeof(zero));
		}
	}
}

static void check_class(const struct world *world, __u32 nr)
{
	const struct reg_class *class = &world->class[nr], *base = &world->class[class->base];
	__u32 child = 0;

	assert_int_equal(class->state, REG_READY);
	assert_true(world->reg->scope[class->scope].run);
	assert_true(!class->base || (base->state == REG_READY && base->scope < class->scope));
	assert_int_equal(set_mask(world, class->set),
			 set_mask(world, class->base ? base->set : 0) |
				 set_mask(world, world->reg->scope[class->scope].set));
	check_set(world, class->set);
	for (int scope = 1; scope < NR_MODELS; scope++) {
		bool is_in = classes__contain(&world->c, nr, scope);
		bool is_in_child = class->child && classes__contain(&world->c, class->child, scope);

		assert_int_equal(is_in_child, is_in && world->reg->scope[scope].inherits);
		child |= is_in_child;
	}
	assert_int_equal(!!class->child, child);
	assert_true(!child || world->class[class->child].state == REG_READY);
	for (__u32 other = nr + 1; other < world->reg->nr_classes; other++) {
		assert_false(world->class[other].state == REG_READY &&
			     world->class[other].scope == class->scope &&
			     world->class[other].base == class->base);
	}
}

/* What must hold whenever nobody is in the middle of a change. */
static void check(const struct world *world)
{
	assert_int_equal(world->reg->class_gen % 2, 0);
	assert_int_equal(world->reg->fold, 0);
	for (__u32 i = 1; i < MAX_CLASSES; i++) {
		if (world->class[i].state != REG_FREE) {
			assert_true(i < world->reg->nr_classes);
			check_class(world, i);
		}
	}
	for (int i = 0; i < NR_TASKS; i++) {
		for (int scope = 1; scope < NR_MODELS; scope++)
			assert_int_equal(classes__contain(&world->c, world->task[i].class, scope),
					 world->task[i].scopes >> scope & 1);
	}
	check_cells(world);
	check_totals(world);
}

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

/* Two runs that live, one of them without children, in company and alone; cells nearly up. */
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
static void live(struct world *world, int run)
{
	int first, second;

	classes__repair(&world->c);
	first = add_scope_of(world, run, 0xf0, true);
	second = add_scope_of(world, run, 0x101, false);
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

static bool live_until(struct world *world, int run, int step)
{
	crash.countdown = step;
	if (setjmp(crash.env))
		return true;
	live(world, run);
	crash.countdown = -1;
	return false;
}

/* What a task of the dead was marked with does not matter; the model follows what is in the table. */
static void bury(struct world *world)
{
	for (int i = 0; i < NR_TASKS; i++)
		for (int scope = 3; scope < NR_MODELS; scope++)
			world->task[i].scopes &= ~(1U << scope);
	world->living &= 0x6;
}

static void readers_are_never_deceived(void **state)
{
	struct world *world = *state;

	populate(world);
	watched = world;
	nr_looks = nr_readings = 0;
	live(world, 3);
	watched = NULL;
	check(world);
	assert_in_range(nr_looks, 50, 1000);
	assert_in_range(nr_readings, 20, nr_looks - 10);
}

static void death_at_any_step_is_repaired_by_the_next_run(void **state)
{
	struct world *world = *state;
	const char *seen[MAX_STEPS] = {};
	int nr_seen = 0, step, classes;

	populate(world);
	classes = nr_classes(world);
	for (step = 0; live_until(world, 3, step); step++) {
		bool is_known = false;

		for (int i = 0; i < nr_seen; i++)
			is_known |= !strcmp(seen[i], crash.name);
		if (!is_known) {
			assert_true(nr_seen < MAX_STEPS);
			seen[nr_seen++] = crash.name;
		}
		repair(world, 3);
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
	assert_in_range(nr_seen, 13, MAX_STEPS);
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

static bool repair_until(struct world *world, int dead_run, int step)
{
	crash.countdown = step;
	if (setjmp(crash.env))
		return true;
	repair(world, dead_run);
	crash.countdown = -1;
	return false;
}

static void death_during_repair_is_repaired_too(void **state)
{
	struct world *world = *state;
	struct saved *saved = malloc(sizeof(*saved));
	int classes, nr = 0;

	populate(world);
	classes = nr_classes(world);
	for (int first = 0; live_until(world, 3, first); first++) {
		bool died = true;

		save(world, saved);
		/* Every step of the repair of that state, each from the same beginning. */
		for (int second = 0; died; second++, nr++) {
			restore(world, saved);
			died = repair_until(world, 3, second);
			if (died)
				repair(world, 3);
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
		TEST(a_scope_counts_what_its_tasks_do_in_any_company),
		TEST(a_move_of_sums_is_seen_by_readers),
		TEST(short_runs_leave_no_classes_behind),
		TEST(any_history_of_scopes_and_tasks_is_counted_exactly),
		TEST(readers_are_never_deceived),
		TEST(death_at_any_step_is_repaired_by_the_next_run),
		TEST(death_during_repair_is_repaired_too),
		TEST(classes_are_of_tasks_or_of_cgroups),
		TEST(a_newborn_belongs_to_whom_its_base_does),
		TEST(a_dropped_scope_is_nobodys),
		TEST(cells_are_found_behind_many),
	};

	return cmocka_run_group_tests_name("classes", tests, NULL, NULL);
}

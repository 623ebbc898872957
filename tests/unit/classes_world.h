/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TESTS_UNIT_CLASSES_WORLD_H
#define PERF_TESTS_UNIT_CLASSES_WORLD_H

/*
 * Scopes, classes and sums without BPF: tasks are an array, the "kernel" adds to cells, and a model
 * that knows nothing of classes says what each scope must have counted.
 */
#include "crash.h"
#include "util/classes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR_CPUS 2
#define NR_TASKS 12
#define NR_SLOTS 16		/* of events that the model knows */
#define NR_MODELS 16		/* scopes that it can follow; the numbers of scopes are below that */
#define NR_CHUNKS 2

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

/* Called at every step, for a reader that comes by; NULL: none does. */
static void (*on_step)(void);

static inline void fake_step(const char *name)
{
	if (on_step)
		on_step();
	crash__step(name);
}

static inline struct sum_block *fake_block(void *ctx, int chunk, int cpu)
{
	struct world *world = ctx;

	assert_in_range(chunk, 0, MAX_CHUNKS - 1);
	assert_in_range(cpu, 0, NR_CPUS - 1);
	return chunk < NR_CHUNKS && world->chunk[chunk] ? &world->chunk[chunk][cpu] : NULL;
}

static inline int fake_add_chunk(void *ctx, int chunk)
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

static inline int setup(void **state)
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
	on_step = NULL;
	*state = world;
	return 0;
}

static inline int teardown(void **state)
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

static inline __u32 pick(struct world *world, __u32 nr)
{
	world->random = world->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (world->random >> 33) % nr;
}

/* A set of the slots that are bits of a mask; every third slot counts context switches. */
static inline int add_set(struct world *world, __u32 mask)
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

static inline int add_scope_of(struct world *world, int run, __u32 mask, bool inherits)
{
	int scope = classes__add_scope(&world->c, run, add_set(world, mask), inherits, 0);

	assert_in_range(scope, 1, NR_MODELS - 1);
	memset(world->model[scope], 0, sizeof(world->model[scope]));
	world->living |= 1U << scope;
	return scope;
}

static inline int add_scope(struct world *world, __u32 mask, bool inherits)
{
	return add_scope_of(world, 0, mask, inherits);
}

static inline int with(struct world *world, int class, int scope)
{
	int new = classes__with(&world->c, class, scope);

	assert_in_range(new, 1, MAX_CLASSES - 1);
	return new;
}

static inline int nr_classes(const struct world *world)
{
	int nr = 0;

	for (__u32 i = 1; i < MAX_CLASSES; i++)
		nr += world->class[i].state != REG_FREE;
	return nr;
}

/* --- the kernel --- */

static inline void mark(struct world *world, int task, int scope)
{
	struct task *to = &world->task[task];

	to->class = with(world, to->class, scope);
	to->scopes |= 1U << scope;
}

static inline void fork_task(struct world *world, int parent, int child)
{
	__u32 inheriting = 0;

	for (int scope = 1; scope < NR_MODELS; scope++) {
		if (world->living >> scope & 1 && world->reg->scope[scope].inherits)
			inheriting |= 1U << scope;
	}
	world->task[child].class = world->class[world->task[parent].class].child;
	world->task[child].scopes = world->task[parent].scopes & inheriting;
}

static inline bool scope_has(const struct world *world, int scope, int slot)
{
	const struct reg_set *set = &world->set[world->reg->scope[scope].set];

	return set->mask[0] >> slot & 1;
}

/* A task runs: each of its class's events counts. */
static inline void run_task(struct world *world, int task)
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

static inline void run_all(struct world *world)
{
	for (int i = 0; i < NR_TASKS; i++)
		run_task(world, i);
}

/* --- the end of a scope, as util/leader_tasks.c does it --- */

static inline int depth(const struct world *world, int class)
{
	int nr = 0;

	for (; class; class = world->class[class].base)
		nr++;
	return nr;
}

static inline int deepest(const struct world *world, int scope)
{
	int found = 0;

	for (__u32 i = 1; i < world->reg->nr_classes; i++) {
		if (world->class[i].state == REG_READY && classes__contain(&world->c, i, scope) &&
		    depth(world, i) > depth(world, found))
			found = i;
	}
	return found;
}

static inline void give_back(struct world *world)
{
	if (world->alone.scope)
		world->reg->scope[world->alone.scope].run = world->alone.run;
	world->alone.scope = 0;
}

static inline int without(struct world *world, int class, int scope)
{
	int smaller;

	world->alone.scope = scope;
	world->alone.run = world->reg->scope[scope].run;
	world->reg->scope[scope].run = MAX_RUNS;
	smaller = classes__without(&world->c, class, MAX_RUNS - 1);
	give_back(world);
	return smaller;
}

static inline void remove_scope(struct world *world, int scope)
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

/* --- what must hold --- */

static inline struct sum total(const struct world *world, int scope, int slot)
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

static inline void check_totals(const struct world *world)
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

static inline __u64 set_mask(const struct world *world, int set)
{
	return world->set[set].mask[0];
}

static inline void check_set(const struct world *world, int nr)
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
static inline void check_cells(const struct world *world)
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

static inline void check_class(const struct world *world, __u32 nr)
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
static inline void check(const struct world *world)
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

#endif

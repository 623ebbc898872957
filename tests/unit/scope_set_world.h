/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TESTS_UNIT_SCOPE_SET_WORLD_H
#define PERF_TESTS_UNIT_SCOPE_SET_WORLD_H

/*
 * Scopes, scope sets and sums without BPF. Tasks are an array, and the "kernel" adds to cells. A
 * model without scope sets computes the expected count of each scope.
 */
#include "crash.h"
#include "util/bperf/event_set.h"
#include "util/bperf/scope_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NR_CPUS	   2
#define NR_TASKS   12
#define NR_SLOTS   16 /* slots of events that the model knows */
#define NR_MODELS  16 /* scopes that the model can follow: their numbers are below that */
#define NR_CHUNKS  4
#define NR_CARRIES (NR_CHUNKS * CHUNK_CELLS / CARRY_CELLS)

struct task {
	__u32 scope_set;
	__u32 scopes; /* the same in the model: a bit per scope */
};

struct world {
	struct registry *reg;
	struct reg_scope_set *scope_set;
	struct reg_set *set;
	struct sum_block *chunk[NR_CHUNKS];
	struct carry_block *carry[NR_CARRIES];
	int nr_chunks_made;
	int fail_chunk; /* errno of the next call, or 0 for success */
	bool is_poor;	/* nothing that is there can be mapped */
	struct task task[NR_TASKS];
	__u64 model[NR_MODELS][NR_SLOTS];
	__u32 living; /* a bit per scope */
	__u64 random;
	struct scope_tables c;
	/* a scope that is removed alone has a session of its own meanwhile */
	struct {
		int scope;
		__u32 session;
	} alone;
};

/* Called at every step, as a concurrent reader; NULL for none. */
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
	errno = ENOENT;
	if (chunk >= NR_CHUNKS || !world->chunk[chunk])
		return NULL;
	errno = ENOMEM;
	return world->is_poor ? NULL : &world->chunk[chunk][cpu];
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

static inline struct carry_block *fake_carry(void *ctx, int place, int cpu)
{
	struct world *world = ctx;

	assert_in_range(place, 0, MAX_CARRIES - 1);
	assert_in_range(cpu, 0, NR_CPUS - 1);
	errno = ENOENT;
	if (place >= NR_CARRIES || !world->carry[place])
		return NULL;
	errno = ENOMEM;
	return world->is_poor ? NULL : &world->carry[place][cpu];
}

static inline int fake_add_carry(void *ctx, int place)
{
	struct world *world = ctx;

	if (world->fail_chunk)
		return -world->fail_chunk;
	assert_in_range(place, 0, NR_CARRIES - 1);
	if (world->reg->carry_ids[place] && !fake_carry(world, place, 0) && errno != ENOENT)
		return -errno;
	/* They are made only where there are none; a session that died before it named them leaves none. */
	assert_true(!world->reg->carry_ids[place] || !world->carry[place]);
	free(world->carry[place]);
	world->carry[place] = calloc(NR_CPUS, sizeof(struct carry_block));
	fake_step("carry-made");
	world->reg->carry_ids[place] = 1;
	fake_step("carry-named");
	return 0;
}

static inline int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	world->reg = calloc(1, sizeof(*world->reg));
	world->reg->nr_scope_sets = world->reg->nr_scopes = 1;
	world->scope_set = calloc(MAX_SCOPE_SETS, sizeof(*world->scope_set));
	world->set = calloc(MAX_SETS, sizeof(*world->set));
	world->random = 1;
	world->c = (struct scope_tables){
		.reg = world->reg,
		.scope_set = world->scope_set,
		.set = world->set,
		.nr_cpus = NR_CPUS,
		.block = fake_block,
		.add_chunk = fake_add_chunk,
		.carry = fake_carry,
		.add_carry = fake_add_carry,
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
	for (int i = 0; i < NR_CARRIES; i++)
		free(world->carry[i]);
	free(world->reg);
	free(world->scope_set);
	free(world->set);
	free(world);
	return 0;
}

static inline __u32 pick(struct world *world, __u32 nr)
{
	world->random = world->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (world->random >> 33) % nr;
}

/* Add a set of the slots in a mask of bits. Every third slot counts context switches. */
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
	return event_set__add(&world->c, slots, is_switches, nr);
}

static inline int add_scope_of(struct world *world, int session, __u32 mask, bool inherits)
{
	int scope = scope_set__add_scope(&world->c, session, add_set(world, mask), inherits, 0);

	assert_in_range(scope, 1, NR_MODELS - 1);
	memset(world->model[scope], 0, sizeof(world->model[scope]));
	world->living |= 1U << scope;
	return scope;
}

static inline int add_scope(struct world *world, __u32 mask, bool inherits)
{
	return add_scope_of(world, 0, mask, inherits);
}

static inline int with(struct world *world, int scope_set, int scope)
{
	int new = scope_set__with(&world->c, scope_set, scope);

	assert_in_range(new, 1, MAX_SCOPE_SETS - 1);
	return new;
}

static inline int nr_scope_sets(const struct world *world)
{
	int nr = 0;

	for (__u32 i = 1; i < MAX_SCOPE_SETS; i++)
		nr += world->scope_set[i].state != REG_FREE;
	return nr;
}

/* --- the kernel --- */

static inline void walk_task(struct world *world, int task, int scope)
{
	struct task *to = &world->task[task];

	to->scope_set = with(world, to->scope_set, scope);
	to->scopes |= 1U << scope;
}

static inline void fork_task(struct world *world, int parent, int child)
{
	__u32 inheriting = 0;

	for (int scope = 1; scope < NR_MODELS; scope++) {
		if (world->living >> scope & 1 && world->reg->scope[scope].inherits)
			inheriting |= 1U << scope;
	}
	world->task[child].scope_set = world->scope_set[world->task[parent].scope_set].child;
	world->task[child].scopes = world->task[parent].scopes & inheriting;
}

static inline bool scope_has(const struct world *world, int scope, int slot)
{
	const struct reg_set *set = &world->set[world->reg->scope[scope].set];

	return set->mask[0] >> slot & 1;
}

/* Run a task: each event of its scope set counts. */
static inline void run_task(struct world *world, int task)
{
	const struct task *who = &world->task[task];
	const struct reg_scope_set *scope_set = &world->scope_set[who->scope_set];
	const struct reg_set *set = &world->set[scope_set->set];
	int cpu = pick(world, NR_CPUS);

	if (!who->scope_set)
		return;
	for (__u32 i = 0; i < set->nr; i++) {
		struct sum_block *block = fake_block(world, scope_set->cell / CHUNK_CELLS, cpu);
		struct sum *sum = &block->cell[scope_set->cell % CHUNK_CELLS + i];
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

/* --- the end of a scope, as util/bperf/scope.c does it --- */

static inline int depth(const struct world *world, int scope_set)
{
	int nr = 0;

	for (; scope_set; scope_set = world->scope_set[scope_set].parent)
		nr++;
	return nr;
}

static inline int deepest(const struct world *world, int scope)
{
	int found = 0;

	for (__u32 i = 1; i < world->reg->nr_scope_sets; i++) {
		if (world->scope_set[i].state == REG_READY &&
		    scope_set__contain(&world->c, i, scope) &&
		    depth(world, i) > depth(world, found))
			found = i;
	}
	return found;
}

static inline void give_back(struct world *world)
{
	if (world->alone.scope)
		world->reg->scope[world->alone.scope].session = world->alone.session;
	world->alone.scope = 0;
}

static inline int without(struct world *world, int scope_set, int scope)
{
	int smaller;

	world->alone.scope = scope;
	world->alone.session = world->reg->scope[scope].session;
	world->reg->scope[scope].session = MAX_SESSIONS;
	smaller = scope_set__without(&world->c, scope_set, MAX_SESSIONS - 1);
	give_back(world);
	return smaller;
}

static inline void remove_scope(struct world *world, int scope)
{
	int scope_set;

	world->living &= ~(1U << scope);
	for (int i = 0; i < NR_TASKS; i++) {
		int to = without(world, world->task[i].scope_set, scope);

		assert_return_code(to, 0);
		world->task[i].scope_set = to;
		world->task[i].scopes &= ~(1U << scope);
	}
	while ((scope_set = deepest(world, scope))) {
		int into = without(world, scope_set, scope);

		assert_return_code(into, 0);
		scope_set__merge_into(&world->c, scope_set, into);
	}
	scope_set__free_scope(&world->c, scope);
}

/* --- what must hold --- */

static inline struct sum total(const struct world *world, int scope, int slot)
{
	const __u64 seq = 0;
	struct scope_sets_view view;
	struct sum sum = {};

	scope_set__begin_read(&world->c, &view);
	for (__u32 i = 1; i < world->reg->nr_scope_sets; i++) {
		int event;

		if (world->scope_set[i].state != REG_READY || scope_set__is_given_up(&view, i) ||
		    !scope_set__contain(&world->c, i, scope))
			continue;
		event = scope_set__event(&world->c, i, slot);
		assert_return_code(event, 0);
		for (int cpu = 0; cpu < NR_CPUS; cpu++) {
			const struct cpu_event at = {event, cpu, &seq};

			scope_set__add_sum(&world->c, &view, i, &at, &sum);
		}
	}
	assert_true(scope_set__end_read(&world->c, &view));
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

/* Check that no two scope sets have the same cells, and that all unused cells are empty. */
static inline void check_cells(const struct world *world)
{
	static const struct sum zero;
	static __u8 used[NR_CHUNKS * CHUNK_CELLS];

	memset(used, 0, sizeof(used));
	for (__u32 i = 1; i < world->reg->nr_scope_sets; i++) {
		const struct reg_scope_set *scope_set = &world->scope_set[i];
		__u32 nr = world->set[scope_set->set].nr;

		if (scope_set->state != REG_READY || !nr)
			continue;
		assert_int_equal(scope_set->cell / CHUNK_CELLS,
				 (scope_set->cell + nr - 1) / CHUNK_CELLS);
		assert_non_null(fake_block((void *)world, scope_set->cell / CHUNK_CELLS, 0));
		for (__u32 n = 0; n < nr; n++)
			assert_false(used[scope_set->cell + n]++);
	}
	for (int cell = 0; cell < NR_CHUNKS * CHUNK_CELLS; cell++) {
		if (used[cell] || !world->chunk[cell / CHUNK_CELLS])
			continue;
		for (int cpu = 0; cpu < NR_CPUS; cpu++) {
			const struct sum_block *block = &world->chunk[cell / CHUNK_CELLS][cpu];
			const struct carry_block *carry =
				fake_carry((void *)world, cell / CARRY_CELLS, cpu);
			int at = cell % CHUNK_CELLS;

			assert_memory_equal(&block->cell[at], &zero, sizeof(zero));
			for (int copy = 0; copy < 2 && carry; copy++)
				assert_memory_equal(&carry->cell[copy][cell % CARRY_CELLS], &zero,
						    sizeof(zero));
		}
	}
}

static inline void check_scope_set(const struct world *world, __u32 nr)
{
	const struct reg_scope_set *scope_set = &world->scope_set[nr],
				   *parent = &world->scope_set[scope_set->parent];
	__u32 child = 0;

	assert_int_equal(scope_set->state, REG_READY);
	assert_true(world->reg->scope[scope_set->scope].session);
	assert_true(!scope_set->parent ||
		    (parent->state == REG_READY && parent->scope < scope_set->scope));
	assert_int_equal(set_mask(world, scope_set->set),
			 set_mask(world, scope_set->parent ? parent->set : 0) |
				 set_mask(world, world->reg->scope[scope_set->scope].set));
	check_set(world, scope_set->set);
	for (int scope = 1; scope < NR_MODELS; scope++) {
		bool is_in = scope_set__contain(&world->c, nr, scope);
		bool is_in_child =
			scope_set->child && scope_set__contain(&world->c, scope_set->child, scope);

		assert_int_equal(is_in_child, is_in && world->reg->scope[scope].inherits);
		child |= is_in_child;
	}
	assert_int_equal(!!scope_set->child, child);
	assert_true(!child || world->scope_set[scope_set->child].state == REG_READY);
	for (__u32 other = nr + 1; other < world->reg->nr_scope_sets; other++) {
		assert_false(world->scope_set[other].state == REG_READY &&
			     world->scope_set[other].scope == scope_set->scope &&
			     world->scope_set[other].parent == scope_set->parent);
	}
}

/* Check everything that must hold while no session is in the middle of a change. */
static inline void check(const struct world *world)
{
	assert_int_equal(world->reg->scope_set_gen % 2, 0);
	assert_int_equal(world->reg->merge, 0);
	for (__u32 i = 1; i < MAX_SCOPE_SETS; i++) {
		if (world->scope_set[i].state != REG_FREE) {
			assert_true(i < world->reg->nr_scope_sets);
			check_scope_set(world, i);
		}
	}
	for (int i = 0; i < NR_TASKS; i++) {
		for (int scope = 1; scope < NR_MODELS; scope++)
			assert_int_equal(
				scope_set__contain(&world->c, world->task[i].scope_set, scope),
				world->task[i].scopes >> scope & 1);
	}
	check_cells(world);
	check_totals(world);
}

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * Puts any numbers into the tables of scope sets, scopes, events and plans, and changes them between any two
 * looks at them. The code must stay within the tables, and every loop must end. Hooks make changes that an
 * input repeats exactly; a thread makes changes at any moment.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/changes.h"
#include "util/bperf/prog_columns.h"
#include "util/bperf/registry.h"
#include "util/bperf/event_set.h"
#include "util/bperf/scope_set.h"

#define NR_CPUS	   2
#define NR_CHUNKS  3
#define NR_CARRIES 4 /* for some of the cells */

/* The tables. Each has a heap block of its own, so that the sanitizer finds accesses behind its end. */
static struct {
	struct registry *reg;
	struct reg_scope_set *scope_set;
	struct reg_set *set;
	struct sum_block *chunk[NR_CHUNKS];
	struct carry_block *carry[NR_CARRIES];
	struct prog_columns *plan;
} memory;

static const struct table {
	size_t offset, stride; /* in the registry */
	uint32_t nr;
} registry_tables[] = {
	{offsetof(struct registry, nr_scope_sets), 4, 4},
	{offsetof(struct registry, scope_set_gen), 8, 2},
	{offsetof(struct registry, carry_ids), 4, NR_CARRIES + 1},
	{offsetof(struct registry, scope), sizeof(struct reg_scope), MAX_SCOPES},
	{offsetof(struct registry, event), sizeof(struct reg_event), MAX_EVENTS},
	{offsetof(struct registry, session), sizeof(struct reg_session), MAX_SESSIONS},
	{offsetof(struct registry, pair), sizeof(struct reg_pair), MAX_PAIRS},
};

#define NR_REGISTRY_TABLES (sizeof(registry_tables) / sizeof(*registry_tables))

static uint32_t nr_steps;

static void apply(const struct change *change)
{
	uint32_t table = change->table % (NR_REGISTRY_TABLES + 6), *word;

	if (table < NR_REGISTRY_TABLES) {
		const struct table *where = &registry_tables[table];

		word = (uint32_t *)((uint8_t *)memory.reg + where->offset +
				    change->entry % where->nr * where->stride +
				    change->field * 4 % where->stride);
	} else if (table == NR_REGISTRY_TABLES) {
		word = (uint32_t *)memory.plan + change->field % (sizeof(*memory.plan) / 4);
	} else if (table == NR_REGISTRY_TABLES + 1) {
		word = (uint32_t *)&memory.set[change->entry % MAX_SETS] +
		       change->field % (sizeof(*memory.set) / 4);
	} else {
		/* Prefer low numbers: all other entries refer to them. */
		uint32_t scope_set = change->entry % (table % 2 ? 16 : MAX_SCOPE_SETS);

		word = (uint32_t *)&memory.scope_set[scope_set] +
		       change->field % (sizeof(*memory.scope_set) / 4);
	}
	__atomic_store_n(word, change->value, __ATOMIC_RELAXED);
}

/* Make one change. There is a limit: a change at every step could keep a correct loop from its end. */
static void on_step(const char *name)
{
	(void)name;
	if (++nr_steps < 1000)
		change_one();
}

static void *change_at_any_time(void *arg)
{
	for (uint32_t n = 0;; n++) {
		pthread_mutex_lock(&changes_lock);
		for (int i = 0; i < 8 && nr_changes; i++)
			apply(&changes[(n * 8 + i) % nr_changes]);
		pthread_mutex_unlock(&changes_lock);
		sched_yield();
	}
	return arg;
}

static struct sum_block *block(void *ctx, int chunk, int cpu)
{
	(void)ctx;
	assert(cpu >= 0 && cpu < NR_CPUS);
	on_step("block");
	/* Some do not exist, and some cannot be mapped. */
	errno = chunk % 2 ? ENOENT : ENOMEM;
	return chunk >= 0 && chunk < NR_CHUNKS ? &memory.chunk[chunk][cpu] : NULL;
}

static struct carry_block *carry(void *ctx, int place, int cpu)
{
	(void)ctx;
	assert(cpu >= 0 && cpu < NR_CPUS);
	on_step("carry");
	errno = place % 2 ? ENOENT : ENOMEM;
	return place >= 0 && place < NR_CARRIES ? &memory.carry[place][cpu] : NULL;
}

static int add_chunk(void *ctx, int chunk)
{
	(void)ctx;
	return chunk < MAX_CHUNKS ? -ENOMEM : -EINVAL;
}

static int add_carry(void *ctx, int place)
{
	(void)ctx;
	assert(place >= 0 && place < MAX_CARRIES);
	if (place >= NR_CARRIES)
		return -ENOMEM;
	memory.reg->carry_ids[place] = 1;
	return 0;
}

/* --- the registry --- */

static bool is_alive(void *ctx, __u32 token)
{
	(void)ctx;
	on_step("alive");
	return token % 2;
}

static void check_group(int first, int nr)
{
	assert(first >= 0 && nr >= 1 && first + nr <= MAX_EVENTS);
	on_step("group");
}

static int open_events(void *ctx, int first, int nr)
{
	(void)ctx;
	check_group(first, nr);
	return first % 3 ? 0 : -ENODEV;
}

static void announce(void *ctx, int first, int nr)
{
	(void)ctx;
	check_group(first, nr);
}

static bool withdraw(void *ctx, int first, int nr)
{
	(void)ctx;
	check_group(first, nr);
	return first % 2;
}

static bool is_foreign(void *ctx, int slot)
{
	(void)ctx;
	assert(slot >= 0 && slot < MAX_EVENTS);
	return slot % 2;
}

static void work_at_events(const struct op *op)
{
	const struct registry_io io = {
		.is_alive = is_alive,
		.open = open_events,
		.announce = announce,
		.withdraw = withdraw,
		.close = announce,
		.step = on_step,
	};
	static const struct attr_key keys[4];
	int session = op->a % MAX_SESSIONS, nr = 1 + op->nr % 4, first, dead = -1;
	bool is_new;

	switch (op->b % 5) {
	case 0:
		if (registry__find_dead(memory.reg, &io, &dead))
			registry__forget_some(memory.reg, &io, dead);
		registry__repair(memory.reg, &io, op->nr % 2 ? session : -1);
		break;
	case 1:
		first = registry__claim(memory.reg, &io, session, keys, nr, &is_new);
		if (first >= 0 && is_new)
			registry__open(memory.reg, &io, first);
		break;
	case 2:
		registry__leave_some(memory.reg, &io, session);
		registry__close(memory.reg, &io, session);
		break;
	case 3:
		(void)registry__find(memory.reg, keys, nr);
		break;
	case 4:
		(void)prog_columns__update(memory.reg, &memory.reg->pair[op->nr], memory.plan,
					   is_foreign, NULL, &is_new);
		break;
	}
}

/* --- scope sets --- */

static void add_sums(const struct scope_tables *c, int scope_set)
{
	const __u64 seq = 0;
	struct scope_sets_view view;
	struct sum total = {};
	int nr_walked = 0;

	scope_set__begin_read(c, &view);
	for_each_parent(c, walk, scope_set) {
		assert(walk.scope_set < MAX_SCOPE_SETS && walk.scope < MAX_SCOPES);
		assert(nr_walked++ <= MAX_REPLACED + MAX_SCOPES);
		on_step("walked");
	}
	for (int slot = 0; slot < 8; slot++) {
		int event = scope_set__event(c, scope_set, slot);
		const struct cpu_event at = {event, slot % NR_CPUS, &seq};

		assert(event < SET_EVENTS);
		if (event >= 0 && !scope_set__is_given_up(&view, scope_set))
			(void)scope_set__add_sum(c, &view, scope_set, &at, &total);
	}
	(void)scope_set__end_read(c, &view);
}

static void check_scope_set(int scope_set)
{
	assert(scope_set < MAX_SCOPE_SETS);
}

static struct scope_tables tables;

static void work(const struct op *op)
{
	struct scope_tables *c = &tables;
	int scope_set = op->b % (op->nr % 2 ? 16 : MAX_SCOPE_SETS),
	    scope = 1 + op->a % (MAX_SCOPES - 1);
	__u16 slots[SET_EVENTS];
	__u8 is_switches[SET_EVENTS] = {};
	int nr = op->nr % (SET_EVENTS + 1);

	switch (op->what % 10) {
	case 0:
		(void)scope_set__repair(c);
		break;
	case 1:
		for (int i = 0; i < nr; i++)
			slots[i] = op->a % 64 + i;
		(void)event_set__add(c, slots, is_switches, nr);
		break;
	case 2:
		(void)scope_set__add_scope(c, op->a % MAX_SESSIONS, op->b % MAX_SETS, op->nr % 2,
					   op->nr / 2);
		break;
	case 3:
		check_scope_set(scope_set__with(c, scope_set, scope));
		break;
	case 4:
		check_scope_set(scope_set__without(c, scope_set, op->a % 4));
		break;
	case 5:
		(void)scope_set__contain(c, scope_set, scope);
		(void)scope_set__of_cgroups(c, scope_set);
		break;
	case 6:
		check_scope_set(scope_set__add_pool_entry(c, op->a % MAX_SETS));
		break;
	case 7:
		(void)scope_set__merge_into(c, scope_set, op->a % 16);
		break;
	case 8:
		add_sums(c, scope_set);
		break;
	case 9:
		work_at_events(op);
		break;
	}
}

static void make_memory(void)
{
	pthread_t thread;

	memory.reg = malloc(sizeof(*memory.reg));
	memory.scope_set = malloc(MAX_SCOPE_SETS * sizeof(*memory.scope_set));
	memory.set = malloc(MAX_SETS * sizeof(*memory.set));
	memory.plan = malloc(sizeof(*memory.plan));
	for (int i = 0; i < NR_CHUNKS; i++)
		memory.chunk[i] = calloc(NR_CPUS, sizeof(struct sum_block));
	for (int i = 0; i < NR_CARRIES; i++)
		memory.carry[i] = calloc(NR_CPUS, sizeof(struct carry_block));
	assert(memory.reg && memory.scope_set && memory.set && memory.plan &&
	       memory.chunk[NR_CHUNKS - 1] && memory.carry[NR_CARRIES - 1]);
	assert(!pthread_create(&thread, NULL, change_at_any_time, NULL));
}

static void begin(void)
{
	if (!memory.reg)
		make_memory();
	memset(memory.reg, 0, sizeof(*memory.reg));
	memset(memory.scope_set, 0, MAX_SCOPE_SETS * sizeof(*memory.scope_set));
	memset(memory.set, 0, MAX_SETS * sizeof(*memory.set));
	memset(memory.plan, 0, sizeof(*memory.plan));
	memory.reg->nr_scope_sets = memory.reg->nr_scopes = 1;
	nr_steps = 0;
	tables = (struct scope_tables){
		.reg = memory.reg,
		.scope_set = memory.scope_set,
		.set = memory.set,
		.nr_cpus = NR_CPUS,
		.block = block,
		.add_chunk = add_chunk,
		.carry = carry,
		.add_carry = add_carry,
		.step = on_step,
	};
}

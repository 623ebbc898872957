// SPDX-License-Identifier: GPL-2.0
#include "classes.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

/* How long readers wait for a move of sums, which takes microseconds, before they suspect a crash. */
#define READ_TRIES 10000

static void step(const struct classes *c, const char *name)
{
	if (c->step)
		c->step(name);
}

static int no_room(struct classes *c, enum classes_full full)
{
	c->full = full;
	return -ENOSPC;
}

static int room(const struct classes *c, int max)
{
	return c->is_leaving ? max : FOR_JOINING(max);
}

static void set_state(struct reg_class *class, __u32 state)
{
	__atomic_store_n(&class->state, state, __ATOMIC_RELEASE);
}

static int class_nr(const struct classes *c, int class)
{
	return c->set[c->class[class].set].nr;
}

/* --- sets of events --- */

static bool is_set_used(const struct classes *c, int set)
{
	for (__u32 i = 1; i < c->reg->nr_scopes; i++) {
		if (c->reg->scope[i].run && c->reg->scope[i].set == (__u32)set)
			return true;
	}
	for (__u32 i = 1; i < c->reg->nr_classes; i++) {
		if (c->class[i].state != REG_FREE && c->class[i].set == (__u32)set)
			return true;
	}
	return false;
}

static bool is_same_set(const struct reg_set *a, const struct reg_set *b)
{
	return a->nr == b->nr && !memcmp(a->slot, b->slot, a->nr * sizeof(a->slot[0])) &&
	       !memcmp(a->is_switches, b->is_switches, a->nr);
}

static int intern_set(struct classes *c, const struct reg_set *want)
{
	int free_set = -1;

	if (!want->nr)
		return 0;
	for (int i = 1; i < MAX_SETS; i++) {
		if (is_same_set(&c->set[i], want))
			return i;
	}
	/* One that nobody uses can still be read by a program that is just looking: never rewritten
	 * while anything of it is in use, and empty ones first. */
	for (int i = 1; i < room(c, MAX_SETS) && free_set < 0; i++) {
		if (!c->set[i].nr)
			free_set = i;
	}
	for (int i = 1; i < room(c, MAX_SETS) && free_set < 0; i++) {
		if (!is_set_used(c, i))
			free_set = i;
	}
	if (free_set < 0)
		return no_room(c, FULL_SETS);
	c->set[free_set].nr = 0;
	step(c, "set-emptied");
	memcpy(c->set[free_set].slot, want->slot, sizeof(want->slot));
	memcpy(c->set[free_set].is_switches, want->is_switches, sizeof(want->is_switches));
	memcpy(c->set[free_set].mask, want->mask, sizeof(want->mask));
	c->set[free_set].has_switches = 0;
	for (__u32 i = 0; i < want->nr; i++)
		c->set[free_set].has_switches |= want->is_switches[i] != NO_SWITCHES;
	step(c, "set-written");
	__atomic_store_n(&c->set[free_set].nr, want->nr, __ATOMIC_RELEASE);
	step(c, "set-added");
	return free_set;
}

int classes__add_set(struct classes *c, const __u16 *slots, const __u8 *is_switches, int nr)
{
	struct reg_set want = { .nr = nr };

	if (nr > SET_EVENTS)
		return -E2BIG;
	for (int i = 0; i < nr; i++) {
		want.slot[i] = slots[i];
		want.is_switches[i] = is_switches[i];
		want.mask[slots[i] / 64] |= 1ULL << slots[i] % 64;
	}
	return intern_set(c, &want);
}

/* Both are ascending, so the union is a merge. */
static int union_set(struct classes *c, int a, int b)
{
	const struct reg_set *left = &c->set[a], *right = &c->set[b];
	struct reg_set want = {};
	__u32 l = 0, r = 0;

	while (l < left->nr || r < right->nr) {
		const struct reg_set *from = left;
		__u32 *pos = &l;

		if (l == left->nr || (r < right->nr && right->slot[r] < left->slot[l])) {
			from = right;
			pos = &r;
		} else if (r < right->nr && right->slot[r] == left->slot[l]) {
			r++;
		}
		if (want.nr == SET_EVENTS)
			return -E2BIG;
		want.slot[want.nr] = from->slot[*pos];
		want.is_switches[want.nr++] = from->is_switches[(*pos)++];
	}
	for (int w = 0; w < MASK_WORDS; w++)
		want.mask[w] = left->mask[w] | right->mask[w];
	return intern_set(c, &want);
}

/* --- scopes --- */

int classes__add_scope(struct classes *c, int run, int set, bool inherits, __u64 cgroup)
{
	for (int i = 1; i < MAX_SCOPES; i++) {
		struct reg_scope *scope = &c->reg->scope[i];

		if (scope->run)
			continue;
		scope->set = set;
		scope->inherits = inherits;
		scope->cgroup = cgroup;
		if ((__u32)i >= c->reg->nr_scopes)
			c->reg->nr_scopes = i + 1;
		step(c, "scope-written");
		__atomic_store_n(&scope->run, run + 1, __ATOMIC_RELEASE);
		step(c, "scope-added");
		return i;
	}
	return no_room(c, FULL_SCOPES);
}

void classes__drop_scope(struct classes *c, int scope)
{
	__atomic_store_n(&c->reg->scope[scope].run, NO_RUN + 1, __ATOMIC_RELEASE);
	step(c, "scope-dropped");
}

void classes__free_scope(struct classes *c, int scope)
{
	__atomic_store_n(&c->reg->scope[scope].run, 0, __ATOMIC_RELEASE);
	step(c, "scope-freed");
}

bool classes__contain(const struct classes *c, int class, int scope)
{
	if (classes__is_newborn(c, class))
		class = c->class[class].base;
	/* Down the bases scopes only get lower. */
	while (class && c->class[class].scope > (__u32)scope)
		class = c->class[class].base;
	return class && c->class[class].scope == (__u32)scope;
}

bool classes__of_cgroups(const struct classes *c, int class)
{
	return classes__is_newborn(c, class) || (class && c->reg->scope[c->class[class].scope].cgroup);
}

/* --- classes --- */

/* The first gap between the cells of classes that is large enough and lies in one chunk. */
static int find_cells(struct classes *c, int nr)
{
	static const int word_bits = 64;
	__u64 used[MAX_CELLS / 64] = {};
	int len = 0;

	for (__u32 i = 1; i < c->reg->nr_classes; i++) {
		if (c->class[i].state == REG_FREE)
			continue;
		for (int n = 0; n < class_nr(c, i); n++) {
			int cell = c->class[i].cell + n;

			used[cell / word_bits] |= 1ULL << cell % word_bits;
		}
	}
	for (int cell = 0; cell < room(c, MAX_CELLS); cell++) {
		/* Thousands of cgroups fill words from the first on. */
		if (cell % word_bits == 0 && used[cell / word_bits] == ~0ULL) {
			cell += word_bits - 1;
			len = 0;
			continue;
		}
		if (cell % CHUNK_CELLS == 0)
			len = 0;
		len = used[cell / word_bits] >> cell % word_bits & 1 ? 0 : len + 1;
		if (len == nr)
			return cell - nr + 1;
	}
	return no_room(c, FULL_CELLS);
}

static int alloc_cells(struct classes *c, int nr)
{
	int cell = nr ? find_cells(c, nr) : 0, err = 0;

	if (cell >= 0 && !c->block(c->ctx, cell / CHUNK_CELLS, 0))
		err = c->add_chunk(c->ctx, cell / CHUNK_CELLS);
	return err ? err : cell;
}

static int find_class(const struct classes *c, int base, int scope)
{
	for (__u32 i = 1; i < c->reg->nr_classes; i++) {
		if (c->class[i].state == REG_READY && c->class[i].scope == (__u32)scope &&
		    c->class[i].base == (__u32)base)
			return i;
	}
	return -1;
}

static int free_class(struct classes *c)
{
	for (int i = 1; i < room(c, MAX_CLASSES); i++) {
		if (c->class[i].state == REG_FREE)
			return i;
	}
	return no_room(c, FULL_CLASSES);
}

/* Write a class as @like, with cells of its own; nobody finds it yet. */
static int write_class(struct classes *c, const struct reg_class *like)
{
	int cell = alloc_cells(c, c->set[like->set].nr), class;

	if (cell < 0)
		return cell;
	class = free_class(c);
	if (class < 0)
		return class;
	c->class[class] = *like;
	c->class[class].cell = cell;
	if ((__u32)class >= c->reg->nr_classes)
		c->reg->nr_classes = class + 1;
	return class;
}

/* The class of a base and a scope higher than all of it. */
static int intern(struct classes *c, int base, int scope)
{
	bool inherits = c->reg->scope[scope].inherits;
	int class = find_class(c, base, scope), child, set;

	if (class >= 0)
		return class;
	/* What children get is made first: a class that is ready is complete. */
	child = base ? (int)c->class[base].child : 0;
	if (inherits && child != base) {
		child = intern(c, child, scope);
		if (child < 0)
			return child;
	}
	/* Nothing may be made between a set and the class that holds it: it would be taken for free. */
	set = union_set(c, c->class[base].set, c->reg->scope[scope].set);
	if (set < 0)
		return set;
	class = write_class(c, &(struct reg_class){
		.base = base, .scope = scope, .child = child, .set = set,
	});
	if (class < 0)
		return class;
	if (inherits && child == base)
		c->class[class].child = class;
	step(c, "class-written");
	set_state(&c->class[class], REG_READY);
	step(c, "class-added");
	return class;
}

bool classes__is_newborn(const struct classes *c, int class)
{
	return class && !c->class[class].scope;
}

/* The events of all scopes that count cgroups. */
int classes__cgroups_set(struct classes *c)
{
	int set = 0;

	for (__u32 i = 1; i < c->reg->nr_scopes && set >= 0; i++) {
		const struct reg_scope *scope = &c->reg->scope[i];

		if (scope->run && scope->cgroup && scope->set != (__u32)set)
			set = union_set(c, set, scope->set);
	}
	return set;
}

int classes__add_newborn(struct classes *c, int set)
{
	int class = write_class(c, &(struct reg_class){ .set = set });

	if (class < 0)
		return class;
	step(c, "newborn-written");
	set_state(&c->class[class], REG_READY);
	step(c, "newborn-added");
	return class;
}

int classes__with(struct classes *c, int class, int scope)
{
	int top = c->class[class].scope, base;

	if (!class || top < scope)
		return intern(c, class, scope);
	if (top == scope)
		return class;
	base = classes__with(c, c->class[class].base, scope);
	return base < 0 ? base : intern(c, base, top);
}

/*
 * Not one scope after the other: what is in between would have scopes of the run, and be made when
 * all that have are already looked for.
 */
static int without(struct classes *c, int class, __u32 run)
{
	const struct reg_class *whole = &c->class[class];
	int base;

	if (!class)
		return 0;
	base = without(c, whole->base, run);
	if (base < 0 || classes__is_newborn(c, class) || c->reg->scope[whole->scope].run == run)
		return base;
	return (__u32)base == whole->base ? class : intern(c, base, whole->scope);
}

int classes__without(struct classes *c, int class, int run)
{
	int smaller;

	c->is_leaving = true;
	smaller = without(c, class, run + 1);
	c->is_leaving = false;
	return smaller;
}

/* --- sums --- */

int classes__event(const struct classes *c, int class, int slot)
{
	const struct reg_set *set = &c->set[c->class[class].set];

	for (__u32 i = 0; i < set->nr; i++) {
		if (set->slot[i] == slot)
			return i;
	}
	return -1;
}

static void add(struct sum *to, const struct sum *what)
{
	to->counter += what->counter;
	to->enabled_ns += what->enabled_ns;
	to->running_ns += what->running_ns;
}

static struct sum_block *block_of(const struct classes *c, int class, int cpu)
{
	return c->block(c->ctx, c->class[class].cell / CHUNK_CELLS, cpu);
}

int classes__add_sum(const struct classes *c, int class, int event, int cpu, const __u64 *seq,
		      struct sum *total)
{
	const struct sum_block *block = block_of(c, class, cpu);
	int cell = (c->class[class].cell + event) % CHUNK_CELLS;
	__u64 before;
	struct sum now;

	if (!block)
		return -ENOMEM;
	do {
		before = __atomic_load_n(seq, __ATOMIC_ACQUIRE);
		now = *(const volatile struct sum *)&block->cell[cell];
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (before & 1 || __atomic_load_n(seq, __ATOMIC_RELAXED) != before);
	add(total, &now);
	add(total, &block->carry[c->class[class].carry][cell]);
	return 0;
}

/* What is decided is done, as often as it takes: nothing here adds to what it reads. */
static void finish_fold(struct classes *c)
{
	__u64 fold = c->reg->fold;
	int from = FOLD_FROM(fold), into = FOLD_INTO(fold);

	if (into)
		c->class[into].carry = FOLD_COPY(fold);
	step(c, "fold-switched");
	for (int cpu = 0; cpu < c->nr_cpus; cpu++) {
		struct sum_block *block = block_of(c, from, cpu);
		int cell = c->class[from].cell % CHUNK_CELLS;

		for (int i = 0; block && i < class_nr(c, from); i++) {
			memset(&block->cell[cell + i], 0, sizeof(struct sum));
			memset(&block->carry[0][cell + i], 0, sizeof(struct sum));
			memset(&block->carry[1][cell + i], 0, sizeof(struct sum));
		}
	}
	step(c, "fold-zeroed");
	set_state(&c->class[from], REG_FREE);
	step(c, "fold-freed");
	__atomic_store_n(&c->reg->fold, 0, __ATOMIC_RELEASE);
	step(c, "fold-done");
}

/* The carry cells that @into will have, in the copy that nobody reads. */
static void write_carry(struct classes *c, int from, int into, int copy)
{
	for (int cpu = 0; cpu < c->nr_cpus; cpu++) {
		struct sum_block *to = block_of(c, into, cpu), *old = block_of(c, from, cpu);
		const struct reg_set *set = &c->set[c->class[into].set];

		for (__u32 i = 0; to && old && i < set->nr; i++) {
			int cell = (c->class[into].cell + i) % CHUNK_CELLS;
			int event = classes__event(c, from, set->slot[i]);
			struct sum sum = to->carry[!copy][cell];

			if (event >= 0) {
				int source = (c->class[from].cell + event) % CHUNK_CELLS;

				add(&sum, &old->cell[source]);
				add(&sum, &old->carry[c->class[from].carry][source]);
			}
			to->carry[copy][cell] = sum;
		}
	}
}

static void even_gen(struct classes *c)
{
	if (c->reg->class_gen & 1)
		__atomic_store_n(&c->reg->class_gen, c->reg->class_gen + 1, __ATOMIC_SEQ_CST);
}

int classes__fold(struct classes *c, int from, int into)
{
	int copy = into ? !c->class[into].carry : 0;

	if (!block_of(c, from, 0) || !block_of(c, into, 0))
		return -ENOMEM;
	__atomic_store_n(&c->reg->class_gen, c->reg->class_gen + 1, __ATOMIC_SEQ_CST);
	/* A store, however ordered, does not keep later ones behind it. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	step(c, "fold-begun");
	if (into)
		write_carry(c, from, into, copy);
	step(c, "fold-written");
	__atomic_store_n(&c->reg->fold, FOLD(from, into, copy), __ATOMIC_SEQ_CST);
	step(c, "fold-decided");
	finish_fold(c);
	even_gen(c);
	step(c, "fold-over");
	return 0;
}

void classes__repair(struct classes *c)
{
	if (c->reg->fold)
		finish_fold(c);
	even_gen(c);
}

__s64 classes__begin_read(const struct classes *c)
{
	for (int i = 0; i < READ_TRIES; i++) {
		__u64 gen = __atomic_load_n(&c->reg->class_gen, __ATOMIC_ACQUIRE);

		if (!(gen & 1))
			return gen;
		sched_yield();
	}
	return -1;
}

bool classes__end_read(const struct classes *c, __s64 gen)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&c->reg->class_gen, __ATOMIC_RELAXED) == (__u64)gen;
}

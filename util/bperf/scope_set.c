// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/scope_set.h"

#include "util/bperf/event_set.h"
#include "util/bperf/seq_wait.h"

#include <errno.h>
#include <string.h>

static void set_state(struct reg_scope_set *scope_set, __u32 state)
{
	__atomic_store_n(&scope_set->state, state, __ATOMIC_RELEASE);
}

static int scope_set_nr(const struct scope_tables *c, int scope_set)
{
	return scope_set__nr_events(c, scope_set__event_set(c, scope_set));
}

/* --- scopes --- */

int scope_set__add_scope(struct scope_tables *c, int session, int set, bool inherits, __u64 cgroup)
{
	for (int i = 1; i < MAX_SCOPES; i++) {
		struct reg_scope *scope = &c->reg->scope[i];

		if (scope->session)
			continue;
		scope->set = set;
		scope->inherits = inherits;
		scope->missed = 0;
		scope->cgroup = cgroup;
		if ((__u32)i >= c->reg->nr_scopes)
			c->reg->nr_scopes = i + 1;
		scope_tables__step(c, "scope-written");
		__atomic_store_n(&scope->session, session + 1, __ATOMIC_RELEASE);
		scope_tables__step(c, "scope-added");
		return i;
	}
	return scope_tables__no_room(c, FULL_SCOPES);
}

void scope_set__drop_scope(struct scope_tables *c, int scope)
{
	__atomic_store_n(&c->reg->scope[scope].session, NO_SESSION + 1, __ATOMIC_RELEASE);
	scope_tables__step(c, "scope-dropped");
}

void scope_set__free_scope(struct scope_tables *c, int scope)
{
	__atomic_store_n(&c->reg->scope[scope].session, 0, __ATOMIC_RELEASE);
	scope_tables__step(c, "scope-freed");
}

bool scope_set__contain(const struct scope_tables *c, int scope_set, int scope)
{
	for_each_parent(c, walk, scope_set) {
		if (walk.scope && walk.scope <= (__u32)scope)
			return walk.scope == (__u32)scope;
	}
	return false;
}

bool scope_set__of_cgroups(const struct scope_tables *c, int scope_set)
{
	__u32 scope = scope_set ? scope_set__scope(c, scope_set) : 0;

	return scope_set && (!scope || c->reg->scope[scope].cgroup);
}

/* --- scope sets --- */

void scope_set__expect(struct scope_tables *c, int nr, int nr_events)
{
	const int room = FOR_JOINING(MAX_CELLS);

	c->expected = nr < room / SET_EVENTS ? nr * nr_events : room;
}

/* Return: where the cells of a scope set end, @first receives where they begin; both 0: it has none. */
static __u32 end_of_cells(const struct scope_tables *c, __u32 scope_set, __u32 *first)
{
	__u32 end;

	*first = 0;
	if (c->scope_set[scope_set].state == REG_FREE)
		return 0;
	*first = shared_nr(&c->scope_set[scope_set].cell, MAX_CELLS);
	end = *first + scope_set_nr(c, scope_set);
	return end < MAX_CELLS ? end : MAX_CELLS;
}

/* The cells up to the end of the first chunk in which no scope set has any. */
static int cells_to_search(const struct scope_tables *c, __u32 nr_scope_sets)
{
	__u32 last = 0, first;

	for (__u32 i = 1; i < nr_scope_sets; i++) {
		__u32 end = end_of_cells(c, i, &first);

		last = end > last ? end : last;
	}
	last = (last / CHUNK_CELLS + 2) * CHUNK_CELLS;
	return last < MAX_CELLS ? last : MAX_CELLS;
}

/* The first gap between the cells of scope sets in one chunk that is large enough. */
static int find_cells(struct scope_tables *c, int nr)
{
	static const int word_bits = 64;
	__u64 used[MAX_CELLS / 64]; /* 64 KB, of which only what is searched becomes memory */
	__u32 nr_scope_sets = scope_set__nr(c);
	int nr_cells = cells_to_search(c, nr_scope_sets), len = 0;

	memset(used, 0, nr_cells / 8);
	for (__u32 i = 1; i < nr_scope_sets; i++) {
		__u32 first, end = end_of_cells(c, i, &first);

		for (__u32 cell = first; cell < end && cell < (__u32)nr_cells; cell++)
			used[cell / word_bits] |= 1ULL << cell % word_bits;
	}
	for (int cell = 0; cell < nr_cells && cell < scope_tables__room(c, MAX_CELLS); cell++) {
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
	return scope_tables__no_room(c, FULL_CELLS);
}

static int alloc_cells(struct scope_tables *c, int nr)
{
	int cell = nr ? find_cells(c, nr) : 0, err = 0;

	if (cell >= 0 && !c->block(c->ctx, cell / CHUNK_CELLS, 0))
		err = c->add_chunk(c->ctx, cell / CHUNK_CELLS);
	c->expected -= nr < c->expected ? nr : c->expected;
	return err ? err : cell;
}

static int find_scope_set(const struct scope_tables *c, int parent, int scope)
{
	__u32 nr = scope_set__nr(c);

	for (__u32 i = 1; i < nr; i++) {
		if (c->scope_set[i].state == REG_READY && c->scope_set[i].scope == (__u32)scope &&
		    c->scope_set[i].parent == (__u32)parent)
			return i;
	}
	return -1;
}

static int free_scope_set(struct scope_tables *c)
{
	/* Readers leave out what a decided merge gives up, until its record is gone. */
	int given_up = MERGE_FROM(c->reg->merge);

	for (int i = 1; i < scope_tables__room(c, MAX_SCOPE_SETS); i++) {
		if (c->scope_set[i].state == REG_FREE && i != given_up)
			return i;
	}
	return scope_tables__no_room(c, FULL_SCOPE_SETS);
}

/* Write a scope set as @like, with cells of its own; nobody finds it yet. */
static int write_scope_set(struct scope_tables *c, const struct reg_scope_set *like)
{
	int cell = alloc_cells(c, scope_set__nr_events(c, like->set)), scope_set;

	if (cell < 0)
		return cell;
	scope_set = free_scope_set(c);
	if (scope_set < 0)
		return scope_set;
	c->scope_set[scope_set] = *like;
	c->scope_set[scope_set].cell = cell;
	if ((__u32)scope_set >= c->reg->nr_scope_sets)
		c->reg->nr_scope_sets = scope_set + 1;
	return scope_set;
}

/* The scope set of its children is the scope set itself. */
#define CHILD_SELF MAX_SCOPE_SETS

static int make(struct scope_tables *c, int parent, int scope, __u32 child)
{
	int scope_set, set;

	/* Nothing may be made between a set and the scope set that holds it: it would be taken for free. */
	set = event_set__union(c, scope_set__event_set(c, parent),
			       scope_set__events_of_scope(c, scope));
	if (set < 0)
		return set;
	scope_set = write_scope_set(c, &(struct reg_scope_set){
					       .parent = parent,
					       .scope = scope,
					       .child = child % CHILD_SELF,
					       .set = set,
				       });
	if (scope_set < 0)
		return scope_set;
	if (child == CHILD_SELF)
		c->scope_set[scope_set].child = scope_set;
	scope_tables__step(c, "scope-set-written");
	set_state(&c->scope_set[scope_set], REG_READY);
	scope_tables__step(c, "scope-set-added");
	return scope_set;
}

/* The scope set of a parent and a scope higher than all of it. */
static int intern(struct scope_tables *c, int parent, int scope)
{
	bool inherits = c->reg->scope[scope].inherits;
	int scope_set = find_scope_set(c, parent, scope), child;

	if (scope_set >= 0)
		return scope_set;
	/* The scope set of children is made first: a scope set that is ready is complete. */
	child = parent ? shared_id(&c->scope_set[parent].child, MAX_SCOPE_SETS) : 0;
	if (inherits && child == parent)
		return make(c, parent, scope, CHILD_SELF);
	if (inherits) {
		int whole = find_scope_set(c, child, scope);

		child = whole < 0 ? make(c, child, scope, CHILD_SELF) : whole;
	}
	return child < 0 ? child : make(c, parent, scope, child);
}

bool scope_set__is_pool_entry(const struct scope_tables *c, int scope_set)
{
	return scope_set && !scope_set__scope(c, scope_set);
}

int scope_set__add_pool_entry(struct scope_tables *c, int set)
{
	int scope_set = write_scope_set(c, &(struct reg_scope_set){.set = set});

	if (scope_set < 0)
		return scope_set;
	scope_tables__step(c, "pool-entry-written");
	set_state(&c->scope_set[scope_set], REG_READY);
	scope_tables__step(c, "pool-entry-added");
	return scope_set;
}

/* The scope sets of a walk, in its order. */
struct scope_set_chain {
	int nr;
	struct scope_walk walk[MAX_REPLACED + MAX_SCOPES + 1];
};

int scope_set__with(struct scope_tables *c, int scope_set, int scope)
{
	struct scope_set_chain above;
	int with = 0;

	above.nr = 0;
	for_each_parent(c, walk, scope_set) {
		if (walk.scope <= (__u32)scope) {
			with = walk.scope_set;
			if (walk.scope == (__u32)scope)
				scope = 0;
			break;
		}
		above.walk[above.nr++] = walk;
	}
	if (!scope && !above.nr)
		return with;
	if (scope)
		with = intern(c, with, scope);
	while (above.nr && with >= 0)
		with = intern(c, with, above.walk[--above.nr].scope);
	return with;
}

/*
 * Remove all scopes of the session in one pass. Removing one at a time would make intermediate
 * scope sets that still have scopes of the session, after the caller has listed those.
 */
static int without(struct scope_tables *c, int scope_set, __u32 session)
{
	struct scope_set_chain chain;
	int parent = 0; /* what the last scope set has become */
	__u32 was = 0;	/* the last scope set */

	chain.nr = 0;
	for_each_parent(c, walk, scope_set)
		chain.walk[chain.nr++] = walk;
	while (chain.nr && parent >= 0) {
		struct scope_walk whole = chain.walk[--chain.nr];

		if (whole.scope && c->reg->scope[whole.scope].session != session)
			parent = (__u32)parent == was ? (int)whole.scope_set :
							intern(c, parent, whole.scope);
		was = whole.scope_set;
	}
	return parent;
}

int scope_set__without(struct scope_tables *c, int scope_set, int session)
{
	int smaller;

	c->is_leaving = true;
	smaller = without(c, scope_set, session + 1);
	c->is_leaving = false;
	return smaller;
}

/* --- sums --- */

int scope_set__event(const struct scope_tables *c, int scope_set, int slot)
{
	__u32 number = scope_set__event_set(c, scope_set), nr = scope_set__nr_events(c, number);
	const struct reg_set *set = &c->set[number];

	for (__u32 i = 0; i < nr; i++) {
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

/* The carry cells of one chunk lie in so many maps. */
#define CHUNK_CARRIES (CHUNK_CELLS / CARRY_CELLS)

/* Where the cells of a scope set are on a CPU. */
struct cells {
	struct sum_block *block;		    /* NULL: as err says */
	struct carry_block *carries[CHUNK_CARRIES]; /* by place in the chunk; NULL: all are 0 */
	__u32 first;
	__u32 nr;
	__u32 carry; /* the copy that holds */
	int err;     /* 0; -ENOENT: some do not exist any more; otherwise: some cannot be mapped */
};

static bool has_carries(const struct scope_tables *c, __u32 place)
{
	return __atomic_load_n(&c->reg->carry_ids[place], __ATOMIC_ACQUIRE);
}

/* The first place of a chunk's carry cells. */
static __u32 first_place(const struct cells *cells)
{
	return cells->first / CHUNK_CELLS * CHUNK_CARRIES;
}

/* Return: whether some of the cells have their carry cells at the i-th place of the chunk. */
static bool is_at(const struct cells *cells, __u32 i)
{
	__u32 first = cells->first % CHUNK_CELLS;

	return cells->nr && i >= first / CARRY_CELLS && i <= (first + cells->nr - 1) / CARRY_CELLS;
}

static void note_failure(struct cells *cells)
{
	if (!cells->err || cells->err == -ENOENT)
		cells->err = -errno;
}

static struct cells cells_of(const struct scope_tables *c, int scope_set, int cpu)
{
	struct cells cells = {
		.first = shared_id(&c->scope_set[scope_set].cell, MAX_CELLS),
		.nr = scope_set_nr(c, scope_set),
		.carry = c->scope_set[scope_set].carry & 1,
	};

	cells.block = c->block(c->ctx, cells.first / CHUNK_CELLS, cpu);
	if (!cells.block)
		note_failure(&cells);
	for (__u32 i = 0; i < CHUNK_CARRIES; i++) {
		__u32 place = first_place(&cells) + i;

		if (!is_at(&cells, i) || !has_carries(c, place))
			continue;
		cells.carries[i] = c->carry(c->ctx, place, cpu);
		if (!cells.carries[i])
			note_failure(&cells);
	}
	return cells;
}

/* Never beyond the chunk. */
static __u32 cell_of(const struct cells *cells, int event)
{
	return (cells->first + event) % CHUNK_CELLS;
}

/* NULL: it is 0. */
static struct sum *carry_cell(const struct cells *cells, __u32 copy, __u32 cell)
{
	struct carry_block *carries = cells->carries[cell / CARRY_CELLS];

	return carries ? &carries->cell[copy][cell % CARRY_CELLS] : NULL;
}

static void add_carry(struct sum *to, const struct cells *cells, __u32 copy, __u32 cell)
{
	const struct sum *carry = carry_cell(cells, copy, cell);

	if (carry)
		add(to, carry);
}

int scope_set__add_sum(const struct scope_tables *c, const struct scope_sets_view *view,
		       int scope_set, const struct cpu_event *at, struct sum *total)
{
	const struct cells cells = cells_of(c, scope_set, at->cpu);
	bool is_into = view->merge && MERGE_INTO(view->merge) == (__u32)scope_set;
	__u32 carry = is_into ? MERGE_COPY(view->merge) : cells.carry,
	      cell = cell_of(&cells, at->event);
	struct seq_wait wait = {};
	__u64 before;
	struct sum now;

	if (cells.err)
		return -ENOMEM;
	for (;;) {
		before = __atomic_load_n(at->seq, __ATOMIC_ACQUIRE);
		now = *(const volatile struct sum *)&cells.block->cell[cell];
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before & 1) && __atomic_load_n(at->seq, __ATOMIC_RELAXED) == before)
			break;
		if (!seq_wait__more(&wait))
			return -EAGAIN;
	}
	add(total, &now);
	add_carry(total, &cells, carry, cell);
	return 0;
}

static void even_gen(struct scope_tables *c)
{
	if (c->reg->scope_set_gen & 1)
		__atomic_store_n(&c->reg->scope_set_gen, c->reg->scope_set_gen + 1,
				 __ATOMIC_SEQ_CST);
}

static void zero_cells(struct scope_tables *c, int scope_set)
{
	for (int cpu = 0; cpu < c->nr_cpus; cpu++) {
		const struct cells cells = cells_of(c, scope_set, cpu);

		for (__u32 i = 0; i < cells.nr; i++) {
			__u32 cell = cell_of(&cells, i);

			if (cells.block)
				memset(&cells.block->cell[cell], 0, sizeof(struct sum));
			for (int copy = 0; copy < 2; copy++) {
				struct sum *carry = carry_cell(&cells, copy, cell);

				if (carry)
					*carry = (struct sum){};
			}
		}
	}
}

/*
 * Do the decided merge. It can be repeated: no step adds to a value that it reads. If this session cannot map
 * the cells to zero, the record stays, and the scope set with its cells: readers know what to leave out.
 */
static int finish_merge(struct scope_tables *c)
{
	__u64 merge = __atomic_load_n(&c->reg->merge, __ATOMIC_RELAXED);
	__u32 from = MERGE_FROM(merge), into = MERGE_INTO(merge);
	int err;

	/* Numbers of no scope set: nothing is zeroed but the cells of the empty one. */
	from = from < MAX_SCOPE_SETS ? from : 0;
	err = cells_of(c, from, 0).err;
	if (err && err != -ENOENT)
		return err;
	if (into && into < MAX_SCOPE_SETS)
		c->scope_set[into].carry = MERGE_COPY(merge);
	scope_tables__step(c, "merge-switched");
	/* Once it is free, its cells can be those of others. */
	if (c->scope_set[from].state != REG_FREE)
		zero_cells(c, from);
	if (into < MAX_SCOPE_SETS)
		__atomic_fetch_add(
			&c->scope_set[into].failed,
			__atomic_exchange_n(&c->scope_set[from].failed, 0, __ATOMIC_RELAXED),
			__ATOMIC_RELAXED);
	scope_tables__step(c, "merge-zeroed");
	set_state(&c->scope_set[from], REG_FREE);
	scope_tables__step(c, "merge-freed");
	/* Before the record goes: without it and with the odd number this would look undecided. */
	even_gen(c);
	scope_tables__step(c, "merge-even");
	__atomic_store_n(&c->reg->merge, 0, __ATOMIC_SEQ_CST);
	scope_tables__step(c, "merge-done");
	return 0;
}

/* The carry cells that @into will have, in the copy that nobody reads. */
static void write_carry(struct scope_tables *c, int from, int into, int copy)
{
	for (int cpu = 0; cpu < c->nr_cpus; cpu++) {
		const struct cells to = cells_of(c, into, cpu), old = cells_of(c, from, cpu);
		const struct reg_set *set = &c->set[scope_set__event_set(c, into)];

		for (__u32 i = 0; i < to.nr && old.block; i++) {
			__u32 cell = cell_of(&to, i);
			int event = scope_set__event(c, from, set->slot[i]);
			struct sum *new = carry_cell(&to, copy, cell), sum = {};

			add_carry(&sum, &to, !copy, cell);
			if (event >= 0) {
				__u32 source = cell_of(&old, event);

				add(&sum, &old.block->cell[source]);
				add_carry(&sum, &old, old.carry, source);
			}
			if (new)
				*new = sum;
		}
	}
}

/* Have carry cells for a scope set: for all cells, or in place of those that do not exist any more. */
static int make_carries(struct scope_tables *c, int scope_set, bool for_all)
{
	const struct cells cells = cells_of(c, scope_set, 0);
	int err = 0;

	for (__u32 i = 0; i < CHUNK_CARRIES && !err; i++) {
		__u32 place = first_place(&cells) + i;

		if (is_at(&cells, i) && !cells.carries[i] && (for_all || has_carries(c, place)))
			err = c->add_carry(c->ctx, place);
	}
	return err;
}

/* Return: 0 if all that a merge needs is there and mapped; a chunk that is gone has nothing to merge. */
static int prepare_merge(struct scope_tables *c, int from, int into)
{
	int err = make_carries(c, from, false);

	if (!err && into)
		err = make_carries(c, into, true);
	if (!err)
		err = cells_of(c, from, 0).err;
	return err == -ENOENT ? 0 : err;
}

int scope_set__repair(struct scope_tables *c)
{
	int err = c->reg->merge ? finish_merge(c) : 0;

	if (!err)
		even_gen(c);
	return err;
}

int scope_set__merge_into(struct scope_tables *c, int from, int into)
{
	/* A session may have died in a merge, and there is one record, with one parity of the generation. */
	int err = scope_set__repair(c), copy;

	if (!err)
		err = prepare_merge(c, from, into);
	if (err)
		return err;
	copy = into ? !(c->scope_set[into].carry & 1) : 0;
	__atomic_store_n(&c->reg->scope_set_gen, c->reg->scope_set_gen + 1, __ATOMIC_SEQ_CST);
	/* A store, however ordered, does not keep later ones behind it. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	scope_tables__step(c, "merge-begun");
	if (into)
		write_carry(c, from, into, copy);
	scope_tables__step(c, "merge-written");
	__atomic_store_n(&c->reg->merge, MERGE(from, into, copy), __ATOMIC_SEQ_CST);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	scope_tables__step(c, "merge-decided");
	return finish_merge(c);
}

void scope_set__begin_read(const struct scope_tables *c, struct scope_sets_view *view)
{
	view->gen = __atomic_load_n(&c->reg->scope_set_gen, __ATOMIC_ACQUIRE);
	view->merge = __atomic_load_n(&c->reg->merge, __ATOMIC_ACQUIRE);
}

bool scope_set__end_read(const struct scope_tables *c, const struct scope_sets_view *view)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&c->reg->scope_set_gen, __ATOMIC_ACQUIRE) == view->gen &&
	       __atomic_load_n(&c->reg->merge, __ATOMIC_ACQUIRE) == view->merge;
}

bool scope_set__is_given_up(const struct scope_sets_view *view, int scope_set)
{
	return view->merge && MERGE_FROM(view->merge) == (__u32)scope_set;
}

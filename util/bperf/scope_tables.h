/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_SCOPE_TABLES_H
#define PERF_BPERF_SCOPE_TABLES_H

/* The tables of scopes, scope sets and event sets, and bounded access to them. */

#include "bpf_skel/leader_registry.h"
#include "util/bperf/shared_word.h"

#include <errno.h>
#include <stdbool.h>

/* Which table has no room. */
enum scope_tables_full {
	FULL_SCOPES,
	FULL_SCOPE_SETS,
	FULL_SETS,
	FULL_CELLS,
	FULL_TASKS,
	FULL_CGROUPS
};

struct scope_tables {
	struct registry *reg;
	struct reg_scope_set *scope_set; /* MAX_SCOPE_SETS */
	struct reg_set *set;		 /* MAX_SETS */
	int nr_cpus;
	enum scope_tables_full full; /* what the last -ENOSPC was about */
	bool is_leaving; /* scope sets are made for a session that ends: all of a table is for it */
	int expected;	 /* cells that the caller is about to need, by its estimate */

	/** block() - a CPU's cells of a chunk, mapped; NULL with errno: ENOENT: there is none */
	struct sum_block *(*block)(void *ctx, int chunk, int cpu);

	/** add_chunk() - make a chunk of zeroed cells, and further ones if many are expected; 0 or -errno */
	int (*add_chunk)(void *ctx, int chunk);

	/** carry() - a CPU's carry cells (cell / CARRY_CELLS), mapped; NULL with errno: ENOENT: there are none */
	struct carry_block *(*carry)(void *ctx, int place, int cpu);

	/** add_carry() - make zeroed carry cells where there are none; 0 or -errno, which is also of carry() */
	int (*add_carry)(void *ctx, int place);

	/** step() - called between any two changes; may be NULL, may not return */
	void (*step)(const char *name);
	void *ctx;
};

/*
 * Bounded access: any session can write anything to the tables at any time. Ids that are out of range read
 * as 0, the empty scope set or set, or no scope. @scope_set must be below MAX_SCOPE_SETS.
 */
static inline __u32 scope_set__nr(const struct scope_tables *c)
{
	return shared_nr(&c->reg->nr_scope_sets, MAX_SCOPE_SETS);
}

static inline __u32 scope_set__nr_scopes(const struct registry *reg)
{
	return shared_nr(&reg->nr_scopes, MAX_SCOPES);
}

static inline __u32 scope_set__parent(const struct scope_tables *c, __u32 scope_set)
{
	return shared_id(&c->scope_set[scope_set].parent, MAX_SCOPE_SETS);
}

/* Its highest; 0: none, as of pool entries. */
static inline __u32 scope_set__scope(const struct scope_tables *c, __u32 scope_set)
{
	return shared_id(&c->scope_set[scope_set].scope, MAX_SCOPES);
}

static inline __u32 scope_set__event_set(const struct scope_tables *c, __u32 scope_set)
{
	return shared_id(&c->scope_set[scope_set].set, MAX_SETS);
}

static inline __u32 scope_set__pool_event_set(const struct scope_tables *c, __u32 scope_set)
{
	__u32 set = __atomic_load_n(&c->scope_set[scope_set].pool_set, __ATOMIC_RELAXED);

	return set < MAX_SETS ? set : 0;
}

static inline __u32 scope_set__events_of_scope(const struct scope_tables *c, __u32 scope)
{
	return shared_id(&c->reg->scope[scope].set, MAX_SETS);
}

static inline __u32 scope_set__nr_events(const struct scope_tables *c, __u32 set)
{
	return shared_nr(&c->set[set].nr, SET_EVENTS);
}

/*
 * A walk from a scope set down its parents. Pool entries, without a scope, come first: one that was
 * replaced has the new one as parent. Then each scope is lower than the one before. A walk ends where that
 * is not so.
 */
struct scope_walk {
	__u32 scope_set; /* 0: the walk is over */
	__u32 scope;	 /* the scope set's highest; 0: a pool entry */
	int nr_pool;
};

/* One replacement is merged before the next; sessions that die meanwhile can leave some more. */
#define MAX_REPLACED 64

static inline struct scope_walk scope_walk__begin(const struct scope_tables *c, __u32 scope_set)
{
	struct scope_walk walk = {.scope_set = scope_set < MAX_SCOPE_SETS ? scope_set : 0};

	walk.scope = walk.scope_set ? scope_set__scope(c, scope_set) : 0;
	return walk;
}

static inline void scope_walk__next(const struct scope_tables *c, struct scope_walk *walk)
{
	__u32 parent = scope_set__parent(c, walk->scope_set),
	      scope = parent ? scope_set__scope(c, parent) : 0;
	bool goes_on = walk->scope ? scope && scope < walk->scope : walk->nr_pool++ < MAX_REPLACED;

	walk->scope_set = goes_on ? parent : 0;
	walk->scope = scope;
}

#define for_each_parent(c, walk, first)                                                            \
	for (struct scope_walk walk = scope_walk__begin(c, first); walk.scope_set;                 \
	     scope_walk__next(c, &walk))

/* --- for scope_set.c and event_set.c --- */

static inline void scope_tables__step(const struct scope_tables *c, const char *name)
{
	if (c->step)
		c->step(name);
}

static inline int scope_tables__no_room(struct scope_tables *c, enum scope_tables_full full)
{
	c->full = full;
	return -ENOSPC;
}

static inline int scope_tables__room(const struct scope_tables *c, int max)
{
	return c->is_leaving ? max : FOR_JOINING(max);
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_SCOPE_SET_H
#define PERF_BPERF_SCOPE_SET_H

/*
 * Scopes, scope sets and their sums: pure logic over the memory that all sessions map, under the lock of
 * tasks; readings need none.
 *
 * A scope set is a smaller scope set, its parent, and one scope higher than all of the parent's. So each set
 * of scopes is one scope set and no other. The scope set of a task is the set of all scopes that count it.
 * The count of a scope is the total of all scope sets that contain it.
 *
 * A scope ends in this order, each step repeatable after a crash:
 *	1. its tasks are moved to smaller scope sets, all CPUs synced (util/bperf/task_walk.c)
 *	2. scope_set__merge_into() each scope set that contains it into the scope set without it. The sums
 *	   go into the copy of the carry cells that is not in use. One store of registry.merge decides.
 *	   Then the copies are switched, the old cells zeroed, the scope set freed.
 *	3. the scope is freed
 */

#include "util/bperf/scope_tables.h"

#include <stdbool.h>

/**
 * scope_set__repair() - finish a merge that was decided; one that was not has never begun
 *
 * Return: 0; -ENOMEM or -errno when the sums cannot be mapped: the merge stays decided, for a session with
 * more memory. Until then no other merge begins.
 */
int scope_set__repair(struct scope_tables *c);

/**
 * scope_set__add_scope() - a scope of a session; its number, from 1, or -ENOSPC
 * @inherits: it also counts children of its tasks; without a meaning for cgroups
 * @cgroup: the kernel's number of the cgroup that it counts; 0: tasks
 */
int scope_set__add_scope(struct scope_tables *c, int session, int set, bool inherits, __u64 cgroup);

/** scope_set__drop_scope() - hand a scope over to NO_SESSION, whose scopes a later session removes */
void scope_set__drop_scope(struct scope_tables *c, int scope);

/** scope_set__free_scope() - free a scope that no scope set contains any more */
void scope_set__free_scope(struct scope_tables *c, int scope);

/**
 * scope_set__with(), scope_set__without() - the scope set with a scope, without all scopes of a session
 *
 * It is made if need be, but no other one that has scopes of the session.
 * Return: the scope set, 0 is the empty one; -ENOSPC, -E2BIG or -errno of add_chunk().
 */
int scope_set__with(struct scope_tables *c, int scope_set, int scope);
int scope_set__without(struct scope_tables *c, int scope_set, int session);
bool scope_set__contain(const struct scope_tables *c, int scope_set, int scope);

/** scope_set__expect() - announce that so many scope sets of so many events are about to be made; 0: no more are */
void scope_set__expect(struct scope_tables *c, int nr, int nr_events);

/** scope_set__of_cgroups() - whether a scope set, with scopes or of a pool entry, is one of cgroups, not tasks */
bool scope_set__of_cgroups(const struct scope_tables *c, int scope_set);

/**
 * scope_set__add_pool_entry() - a scope set without scopes
 *
 * Programs set its parent when they give it to a new cgroup, and its set to the parent's pool_set, which
 * must not be larger. Until it is merged into the parent, what is counted in it belongs to the scopes of
 * the parent. Return: the scope set; -ENOSPC, -E2BIG, -errno.
 */
int scope_set__add_pool_entry(struct scope_tables *c, int set);
bool scope_set__is_pool_entry(const struct scope_tables *c, int scope_set);

/**
 * scope_set__merge_into() - give up a scope set; what it counted goes to @into, which may be 0
 *
 * Return: 0; -ENOMEM or -errno when sums cannot be mapped, when carry cells cannot be made, or while an
 * earlier merge waits for scope_set__repair(). Nothing has been changed then.
 */
int scope_set__merge_into(struct scope_tables *c, int from, int into);

/** scope_set__event() - the position of a slot in a scope set's set, -1: not in it */
int scope_set__event(const struct scope_tables *c, int scope_set, int slot);

/*
 * A moment of the tables. A merge takes many writes, and its maker can be stopped between any two:
 * readers never wait for it. Until the merge is decided nothing has happened. After that, the sums of the
 * scope set given up are in a copy of the other one's carry cells. Readers take them from there.
 */
struct scope_sets_view {
	__u64 gen;
	__u64 merge;
};

/**
 * scope_set__begin_read(), scope_set__end_read() - bracket a reading of several scope sets
 *
 * End tells whether the reading is of one moment; else it has to be repeated.
 */
void scope_set__begin_read(const struct scope_tables *c, struct scope_sets_view *view);
bool scope_set__end_read(const struct scope_tables *c, const struct scope_sets_view *view);

/** scope_set__is_given_up() - whether a scope set has to be left out of a reading */
bool scope_set__is_given_up(const struct scope_sets_view *view, int scope_set);

/* An event on a CPU. */
struct cpu_event {
	int event; /* as from scope_set__event() */
	int cpu;
	const __u64
		*seq; /* the CPU's sequence count (cpu_state.seq): torn triples are read again */
};

/**
 * scope_set__add_sum() - add what a scope set counted of one event on one CPU
 *
 * Return: 0; -ENOMEM when the sums cannot be mapped; -EAGAIN: the CPU is always in the middle of a change.
 */
int scope_set__add_sum(const struct scope_tables *c, const struct scope_sets_view *view,
		       int scope_set, const struct cpu_event *at, struct sum *total);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_CLASSES_H
#define PERF_UTIL_CLASSES_H

/*
 * Scopes, classes and their sums: pure logic over the memory that all runs map, under the lock.
 *
 * A class is a smaller class, its base, and one scope higher than all of the base's; so each set
 * of scopes is one class and no other. The class of a task is the set of all scopes that count it,
 * and what a scope has counted is the total of all classes that contain it.
 *
 * A scope ends in this order, each step repeatable after a crash:
 *	1. its tasks are marked with smaller classes, all CPUs synced (util/leader_marks.c)
 *	2. classes__fold() each class that contains it into the class without it: the sums go into
 *	   the copy of the carry cells that is not in use; one store of registry.fold decides; the
 *	   copies are switched, the old cells zeroed, the class freed
 *	3. the scope is freed
 */

#include "../bpf_skel/leader_registry.h"

#include <stdbool.h>

/* Which table has no room. */
enum classes_full { FULL_SCOPES, FULL_CLASSES, FULL_SETS, FULL_CELLS, FULL_TASKS, FULL_CGROUPS };

struct classes {
	struct registry *reg;
	struct reg_class *class;	/* MAX_CLASSES */
	struct reg_set *set;		/* MAX_SETS */
	int nr_cpus;
	enum classes_full full;		/* what the last -ENOSPC was about */
	bool is_leaving;		/* classes are made for a run that ends: all of a table is for it */

	/** block() - a CPU's cells of a chunk, mapped; NULL: there is no such chunk */
	struct sum_block *(*block)(void *ctx, int chunk, int cpu);

	/** add_chunk() - make a chunk of zeroed cells; 0 or -errno */
	int (*add_chunk)(void *ctx, int chunk);

	/** step() - called between any two changes; may be NULL, may not return */
	void (*step)(const char *name);
	void *ctx;
};

/** classes__repair() - finish a move of sums that was decided, forget classes half made */
void classes__repair(struct classes *c);

/**
 * classes__add_set() - the set of events, made if there is none like it
 * @slots: ascending
 * @is_switches: per slot, enum switch_event
 *
 * Return: its number; -E2BIG: more than SET_EVENTS; -ENOSPC.
 */
int classes__add_set(struct classes *c, const __u16 *slots, const __u8 *is_switches, int nr);

/**
 * classes__add_scope() - a scope of a run; its number, from 1, or -ENOSPC
 * @inherits: children of its tasks are counted, too; without a meaning for cgroups
 * @cgroup: the kernel's number of the cgroup that it counts; 0: tasks
 */
int classes__add_scope(struct classes *c, int run, int set, bool inherits, __u64 cgroup);

/** classes__drop_scope() - it is no run's any more; it is freed by whoever removes NO_RUN's */
void classes__drop_scope(struct classes *c, int scope);

/** classes__free_scope() - no class contains it any more */
void classes__free_scope(struct classes *c, int scope);

/**
 * classes__with(), classes__without() - the class with a scope, without all scopes of a run; made if
 * need be, and none else that has scopes of the run
 *
 * Return: the class, 0 is the empty one; -ENOSPC, -E2BIG or -errno of add_chunk().
 */
int classes__with(struct classes *c, int class, int scope);
int classes__without(struct classes *c, int class, int run);
bool classes__contain(const struct classes *c, int class, int scope);

/** classes__of_cgroups() - whether a class is one of cgroups, with scopes or newborn; others are of tasks */
bool classes__of_cgroups(const struct classes *c, int class);

/**
 * classes__cgroups_set() - the set of all events that are counted of cgroups; -ENOSPC, -E2BIG
 */
int classes__cgroups_set(struct classes *c);

/**
 * classes__add_newborn() - a class without scopes
 *
 * Programs set its base when they give it to a new cgroup: until it is folded into that, what is
 * counted in it belongs to the scopes of the base. Return: the class; -ENOSPC, -E2BIG, -errno.
 */
int classes__add_newborn(struct classes *c, int set);
bool classes__is_newborn(const struct classes *c, int class);

/**
 * classes__fold() - give up a class; what it counted goes to @into, which may be 0
 *
 * Return: 0; -ENOMEM when sums cannot be mapped: nothing has been changed then.
 */
int classes__fold(struct classes *c, int from, int into);

/** classes__event() - the position of a slot in a class's set, -1: not in it */
int classes__event(const struct classes *c, int class, int slot);

/**
 * classes__add_sum() - add what a class counted of one event on one CPU
 * @event: as from classes__event()
 * @seq: the CPU's sequence count (cpu_state.seq): torn triples are read again
 *
 * Return: 0; -ENOMEM when the sums cannot be mapped.
 */
int classes__add_sum(const struct classes *c, int class, int event, int cpu, const __u64 *seq,
		      struct sum *total);

/**
 * classes__begin_read(), classes__end_read() - bracket a reading of several classes
 *
 * Begin waits while sums move; Return: a number for end, whose return says whether the reading is
 * good. -1: a run died in the middle of a move: take the lock and repair.
 */
__s64 classes__begin_read(const struct classes *c);
bool classes__end_read(const struct classes *c, __s64 gen);

#endif

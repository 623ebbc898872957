// SPDX-License-Identifier: GPL-2.0
#include "leader_scopes.h"

#include "classes.h"
#include "leader.h"
#include "leader_cgroups.h"
#include "leader_links.h"
#include "leader_marks.h"
#include "leader_newborns.h"
#include "leader_tasks.h"
#include "msg.h"
#include "util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Grace periods until tasks that were being released are gone. */
#define RELEASE_WAITS 3

int leader_scopes__add(struct leader *leader, const __u16 *slots, const __u8 *is_switches, int nr,
		       bool inherits, __u64 cgroup)
{
	int set = classes__add_set(&leader->classes, slots, is_switches, nr);

	if (set < 0)
		return set;
	return classes__add_scope(&leader->classes, leader->run, set, inherits, cgroup);
}

static bool is_of_run(const struct leader *leader, int scope, int run)
{
	return leader->registry->scope[scope].run == (__u32)run + 1;
}

/* Whether a class has a scope of the run, and how many of all. */
static bool find_scope(const struct leader *leader, int class, int run, int *depth)
{
	const struct reg_class *table = leader->classes.class;
	bool is_found = false;

	*depth = 0;
	for (; class; class = table[class].base) {
		++*depth;
		is_found |= is_of_run(leader, table[class].scope, run);
	}
	return is_found;
}

/* Whether tasks are in a class with a scope of the run. */
static bool has_tasks(const struct leader *leader, int run)
{
	int depth;

	for (__u32 i = 1; i < leader->registry->nr_classes; i++) {
		const struct reg_class *class = &leader->classes.class[i];

		if (class->state == REG_READY && class->members &&
		    find_scope(leader, i, run, &depth))
			return true;
	}
	return false;
}

/* Whether a CPU is in one, or may just be leaving one. */
static bool has_cpus(const struct leader *leader, int run)
{
	int depth;

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		const struct cpu_state *state = &leader->cpus[cpu];
		__u32 class = __atomic_load_n(&state->class[OF_TASK], __ATOMIC_ACQUIRE);

		/* It may have left a class whose sums are still on their way to us. */
		if (find_scope(leader, class, run, &depth) ||
		    __atomic_load_n(&state->seq, __ATOMIC_ACQUIRE) & 1)
			return true;
	}
	return false;
}

static int unmark(struct leader *leader, int run)
{
	int err = 0, depth;

	leader_marks__begin(leader, MARK_NOW);
	for (__u32 i = 1; i < leader->registry->nr_classes && !err; i++) {
		int to;

		if (leader->classes.class[i].state != REG_READY ||
		    classes__of_cgroups(&leader->classes, i) || !find_scope(leader, i, run, &depth))
			continue;
		to = classes__without(&leader->classes, i, run);
		err = to < 0 ? to : leader_marks__move(leader, i, to);
	}
	return err ? err : leader_marks__walk_all(leader);
}

/* Whether a run has scopes of tasks, or of cgroups. @run -1: any run */
static bool has_scopes(const struct leader *leader, int run, enum class_kind kind)
{
	for (__u32 i = 1; i < leader->registry->nr_scopes; i++) {
		const struct reg_scope *scope = &leader->registry->scope[i];

		if (run < 0 ? scope->run : is_of_run(leader, i, run)) {
			if (!scope->cgroup == (kind == OF_TASK))
				return true;
		}
	}
	return false;
}

struct leaving_class {
	int class, depth;
};

/* Those with the most scopes first: bases go last. */
static int compare_depth(const void *a, const void *b)
{
	return ((const struct leaving_class *)b)->depth - ((const struct leaving_class *)a)->depth;
}

/* Give up all classes of a kind with a scope of the run; nothing is in them any more. */
static int fold_all(struct leader *leader, int run, enum class_kind kind)
{
	struct leaving_class *leaving __cleanup(free_ptr) =
		malloc(leader->registry->nr_classes * sizeof(*leaving));
	int nr = 0, err = 0;

	if (!leaving)
		return -ENOMEM;
	for (__u32 i = 1; i < leader->registry->nr_classes; i++) {
		if (leader->classes.class[i].state == REG_READY &&
		    classes__of_cgroups(&leader->classes, i) == (kind == OF_CGROUP) &&
		    find_scope(leader, i, run, &leaving[nr].depth))
			leaving[nr++].class = i;
	}
	qsort(leaving, nr, sizeof(*leaving), compare_depth);
	for (int i = 0; i < nr && !err; i++) {
		int into = classes__without(&leader->classes, leaving[i].class, run);

		err = into < 0 ? into : classes__fold(&leader->classes, leaving[i].class, into);
	}
	return err;
}

/* No task is in a class with a scope of the run any more. */
static int leave_tasks(struct leader *leader, int run)
{
	int err = 0;

	if (has_tasks(leader, run) || has_cpus(leader, run))
		err = unmark(leader, run);
	/* A task that was just released is in no walk any more, and leaves its class soon after. */
	for (int i = 0; i < RELEASE_WAITS && !err && has_tasks(leader, run); i++)
		err = leader_tasks__wait();
	/* From inside a pid namespace not all can be seen: somebody outside will. */
	return !err && has_tasks(leader, run) ? -EAGAIN : err;
}

/* What cannot be removed must not be taken for another run's that gets the same number. */
static void end_scopes(struct leader *leader, int run, enum class_kind kind, bool is_removed)
{
	for (__u32 i = 1; i < leader->registry->nr_scopes; i++) {
		if (!is_of_run(leader, i, run) ||
		    !leader->registry->scope[i].cgroup != (kind == OF_TASK))
			continue;
		if (is_removed)
			classes__free_scope(&leader->classes, i);
		else
			classes__drop_scope(&leader->classes, i);
	}
}

void leader_scopes__remove_kind(struct leader *leader, int run, enum class_kind kind)
{
	int err;

	if (!has_scopes(leader, run, kind) &&
	    !(kind == OF_CGROUP && leader_newborns__watches(leader, run)))
		return;
	err = kind == OF_TASK ? leave_tasks(leader, run) : leader_cgroups__unmark(leader, run);
	if (!err)
		err = fold_all(leader, run, kind);
	end_scopes(leader, run, kind, !err);
	if (err)
		pr_verbose("what was counted could not all be removed: %s", strerror(-err));
}

void leader_scopes__remove(struct leader *leader, int run)
{
	leader_scopes__remove_kind(leader, run, OF_TASK);
	leader_scopes__remove_kind(leader, run, OF_CGROUP);
}

void leader_scopes__repair(struct leader *leader)
{
	const struct registry *reg = leader->registry;
	bool has_any[NO_RUN + 1] = {};

	classes__repair(&leader->classes);
	/* The last run that counted tasks died: nothing follows them any more. */
	if (has_scopes(leader, -1, OF_TASK) && !leader_links__are_alive(leader, LINKS_TASKS))
		leader_tasks__purge(leader);
	/* Of runs that died, and what those that left could not remove. */
	for (__u32 i = 1; i < reg->nr_scopes; i++) {
		if (reg->scope[i].run && reg->scope[i].run <= NO_RUN + 1)
			has_any[reg->scope[i].run - 1] = true;
	}
	for (int run = NO_RUN; run >= 0; run--) {
		if (has_any[run] && (run == NO_RUN || !reg->run[run].token ||
				     !leader__is_run_alive(reg->run[run].token)))
			leader_scopes__remove(leader, run);
	}
}

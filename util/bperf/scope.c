// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/scope.h"

#include "util/bperf/cgroup_pool.h"
#include "util/bperf/cgroup_scopes.h"
#include "util/bperf/event_set.h"
#include "util/bperf/leader.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_links.h"
#include "util/bperf/leader_progs.h"
#include "util/bperf/leader_sync.h"
#include "util/bperf/leader_tasks.h"
#include "util/bperf/scope_set.h"
#include "util/bperf/task_walk.h"
#include "util/host/bpf_info.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Grace periods until tasks that were being released are gone. */
#define RELEASE_WAITS 3

void scope__expect(struct bperf_leader *leader, int nr_rows, int nr_events)
{
	scope_set__expect(&leader->scope_sets, nr_rows, nr_events);
}

int scope__add(struct bperf_leader *leader, const __u16 *slots, const __u8 *is_switches, int nr,
	       bool inherits, __u64 cgroup)
{
	int set = event_set__add(&leader->scope_sets, slots, is_switches, nr);

	if (set < 0)
		return set;
	return scope_set__add_scope(&leader->scope_sets, leader->session, set, inherits, cgroup);
}

char *scope__why_full(const struct bperf_leader *leader, enum scope_set_kind kind, int err)
{
	const struct {
		const char *what[NR_SCOPE_SET_KINDS];
		int max;
	} limits[] = {
		[FULL_SCOPES] = {{"rows of tasks (one per session; with --per-thread, per thread)",
				  "rows (one per cgroup of a session)"},
				 MAX_SCOPES - 1},
		[FULL_SCOPE_SETS] = {{"different sets of sessions that count a task",
				      "different sets of sessions that count a cgroup"},
				     FOR_JOINING(MAX_SCOPE_SETS) - 1},
		[FULL_SETS] = {{"different sets of events", "different sets of events"},
			       event_set__room(&leader->scope_sets) - 1},
		[FULL_CELLS] = {{"sums of events (an event of a set of sessions is one)",
				 "sums of events (an event of a cgroup is one)"},
				FOR_JOINING(MAX_CELLS)},
		[FULL_TASKS] = {{"tasks", "tasks"}, leader_tasks__max(leader)},
		[FULL_CGROUPS] = {{"cgroups", "cgroups"}, MAX_CGROUPS},
	};
	enum scope_tables_full full = leader->scope_sets.full;

	if (err == -ENOMEM)
		return xasprintf(
			"too little memory to share events of %s (that of the session which loaded the BPF programs, if its memory cgroup is full)",
			kind == SCOPE_SET_TASK ? "tasks" : "cgroups");
	if (err == -E2BIG)
		return xasprintf(
			"all sessions together would count more than %d different events in one %s",
			SET_EVENTS, kind == SCOPE_SET_TASK ? "task" : "cgroup");
	return xasprintf("all sessions together would count more than %d %s", limits[full].max,
			 limits[full].what[kind]);
}

void scope__drop(struct bperf_leader *leader, int scope)
{
	scope_set__drop_scope(&leader->scope_sets, scope);
}

static bool is_of_session(const struct bperf_leader *leader, int scope, int session)
{
	return leader->registry->scope[scope].session == (__u32)session + 1;
}

/* Return: whether a scope set has a scope of the session, and how many of all. */
static bool find_scope(const struct bperf_leader *leader, int scope_set, int session, int *depth)
{
	bool is_found = false;

	*depth = 0;
	for_each_parent(&leader->scope_sets, walk, scope_set) {
		++*depth;
		is_found |= is_of_session(leader, walk.scope, session);
	}
	return is_found;
}

/* Return: whether tasks are in a scope set with a scope of the session. */
static bool has_tasks(const struct bperf_leader *leader, int session)
{
	__u32 nr = scope_set__nr(&leader->scope_sets);
	int depth;

	for (__u32 i = 1; i < nr; i++) {
		const struct reg_scope_set *scope_set = &leader->scope_sets.scope_set[i];

		if (scope_set->state == REG_READY && scope_set->members &&
		    find_scope(leader, i, session, &depth))
			return true;
	}
	return false;
}

/* Return: whether a CPU is in a scope set with a scope of the session, as far as can be seen. */
static bool has_cpus(const struct bperf_leader *leader, int session)
{
	int depth;

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		__u32 scope_set;

		if (!leader_sync__scope_set(&leader->cpus[cpu], &scope_set) ||
		    find_scope(leader, scope_set, session, &depth))
			return true;
	}
	return false;
}

static int unmark(struct bperf_leader *leader, int session)
{
	__u32 nr = scope_set__nr(&leader->scope_sets);
	/* A session that cleans up need not count tasks itself. */
	int err = leader_progs__load(leader, PROGS_TASKS), depth;

	if (!err)
		err = bperf_leader__map_walk(leader);
	if (!err)
		task_walk__begin(leader, WALK_NOW);
	for (__u32 i = 1; i < nr && !err; i++) {
		int to;

		if (leader->scope_sets.scope_set[i].state != REG_READY ||
		    scope_set__of_cgroups(&leader->scope_sets, i) ||
		    !find_scope(leader, i, session, &depth))
			continue;
		to = scope_set__without(&leader->scope_sets, i, session);
		if (to < 0)
			err = to;
		else
			task_walk__move(leader, i, to);
	}
	return err ? err : task_walk__all(leader);
}

/* Return: whether a session has scopes of tasks, or of cgroups. @session -1: any session */
static bool has_scopes(const struct bperf_leader *leader, int session, enum scope_set_kind kind)
{
	__u32 nr = scope_set__nr_scopes(leader->registry);

	for (__u32 i = 1; i < nr; i++) {
		const struct reg_scope *scope = &leader->registry->scope[i];

		if (session < 0 ? scope->session : is_of_session(leader, i, session)) {
			if (!scope->cgroup == (kind == SCOPE_SET_TASK))
				return true;
		}
	}
	return false;
}

struct leaving_scope_set {
	int scope_set, depth;
};

/* Order scope sets by the number of scopes, most first: parents go last. */
static int compare_depth(const void *a, const void *b)
{
	return ((const struct leaving_scope_set *)b)->depth -
	       ((const struct leaving_scope_set *)a)->depth;
}

/* Give up all scope sets of a kind with a scope of the session; nothing is in them any more. */
static int merge_all(struct bperf_leader *leader, int session, enum scope_set_kind kind)
{
	__u32 nr_scope_sets = scope_set__nr(&leader->scope_sets);
	struct leaving_scope_set *leaving __cleanup(free_ptr) =
		calloc(nr_scope_sets + 1, sizeof(*leaving));
	int nr = 0, err = 0;

	if (!leaving)
		return -ENOMEM;
	for (__u32 i = 1; i < nr_scope_sets; i++) {
		if (leader->scope_sets.scope_set[i].state == REG_READY &&
		    scope_set__of_cgroups(&leader->scope_sets, i) == (kind == SCOPE_SET_CGROUP) &&
		    find_scope(leader, i, session, &leaving[nr].depth))
			leaving[nr++].scope_set = i;
	}
	qsort(leaving, nr, sizeof(*leaving), compare_depth);
	for (int i = 0; i < nr && !err; i++) {
		int into = scope_set__without(&leader->scope_sets, leaving[i].scope_set, session);

		err = into < 0 ? into :
				 scope_set__merge_into(&leader->scope_sets, leaving[i].scope_set,
						       into);
	}
	return err;
}

/* No task is in a scope set with a scope of the session any more. */
static int leave_tasks(struct bperf_leader *leader, int session)
{
	int err = 0;

	if (has_tasks(leader, session) || has_cpus(leader, session))
		err = unmark(leader, session);
	/* A task that was just released is in no walk any more, and leaves its scope set soon after. */
	for (int i = 0; i < RELEASE_WAITS && !err && has_tasks(leader, session); i++)
		err = leader_sync__wait();
	/* A session in a pid namespace cannot see all tasks. The rest is left to a session outside. */
	return !err && has_tasks(leader, session) ? -EAGAIN : err;
}

static int leave_cgroups(struct bperf_leader *leader, int session)
{
	int err = bperf_leader__map_cgroups(leader);

	return err ? err : cgroup_scopes__unassign(leader, session);
}

/* Hand leftovers to NO_SESSION, so that a reused session number does not inherit them. */
static void end_scopes(struct bperf_leader *leader, int session, enum scope_set_kind kind,
		       bool is_removed)
{
	__u32 nr = scope_set__nr_scopes(leader->registry);

	for (__u32 i = 1; i < nr; i++) {
		if (!is_of_session(leader, i, session) ||
		    !leader->registry->scope[i].cgroup != (kind == SCOPE_SET_TASK))
			continue;
		if (is_removed)
			scope_set__free_scope(&leader->scope_sets, i);
		else
			scope_set__drop_scope(&leader->scope_sets, i);
	}
}

void scope__remove_kind(struct bperf_leader *leader, int session, enum scope_set_kind kind)
{
	int err;

	if (!has_scopes(leader, session, kind) &&
	    !(kind == SCOPE_SET_CGROUP && cgroup_pool__watches(leader, session)))
		return;
	err = kind == SCOPE_SET_TASK ? leave_tasks(leader, session) :
				       leave_cgroups(leader, session);
	if (!err)
		err = merge_all(leader, session, kind);
	end_scopes(leader, session, kind, !err);
	if (err)
		pr_verbose("what was counted could not all be removed: %s", strerror(-err));
}

void scope__remove(struct bperf_leader *leader, int session)
{
	scope__remove_kind(leader, session, SCOPE_SET_TASK);
	scope__remove_kind(leader, session, SCOPE_SET_CGROUP);
}

void scope__abandon(struct bperf_leader *leader, int session)
{
	end_scopes(leader, session, SCOPE_SET_TASK, false);
	end_scopes(leader, session, SCOPE_SET_CGROUP, false);
	leader->registry->session[session].nr_seen = 0;
}

bool scope__has(const struct bperf_leader *leader, int session)
{
	return cgroup_pool__watches(leader, session) ||
	       has_scopes(leader, session, SCOPE_SET_TASK) ||
	       has_scopes(leader, session, SCOPE_SET_CGROUP);
}

/* The sessions that have scopes, NO_SESSION among them. */
static void find_owners(const struct bperf_leader *leader, bool has_any[NO_SESSION + 1])
{
	const struct registry *reg = leader->registry;
	__u32 nr = scope_set__nr_scopes(reg);

	for (__u32 i = 1; i < nr; i++) {
		__u32 session = __atomic_load_n(&reg->scope[i].session, __ATOMIC_ACQUIRE);

		if (session && session <= NO_SESSION + 1)
			has_any[session - 1] = true;
	}
	for (int session = 0; session < MAX_SESSIONS; session++)
		has_any[session] |= cgroup_pool__watches(leader, session);
}

/* Return: whether a session has died, or is none. */
static bool is_gone(const struct bperf_leader *leader, int session)
{
	__u32 token = session == NO_SESSION ? 0 : leader->registry->session[session].token;

	return !token || !bpf_info__is_map_alive(token);
}

int scope__find_dead(const struct bperf_leader *leader, int below)
{
	bool has_any[NO_SESSION + 1] = {};

	find_owners(leader, has_any);
	for (int session = below - 1; session >= 0; session--) {
		if (has_any[session] && is_gone(leader, session))
			return session;
	}
	return -1;
}

int scope__repair(struct bperf_leader *leader)
{
	int err = bperf_leader__map_scopes(leader);

	/* Sums cannot be mapped: nothing can be merged here, and a session with more memory repairs. */
	if (!err)
		err = scope_set__repair(&leader->scope_sets);
	/* The last session that counted tasks died: nothing follows them any more. */
	if (!err && has_scopes(leader, -1, SCOPE_SET_TASK) &&
	    !leader_links__are_alive(leader, LINKS_TASKS))
		leader_tasks__purge(leader);
	return err;
}

void scope__remove_dead(struct bperf_leader *leader, int session)
{
	if (!scope__repair(leader) && is_gone(leader, session))
		scope__remove(leader, session);
}

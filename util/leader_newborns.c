// SPDX-License-Identifier: GPL-2.0
#include "leader_newborns.h"

#include "classes.h"
#include "id_map.h"
#include "leader.h"
#include "leader_cgroup_table.h"
#include "leader_links.h"
#include "leader_tasks.h"
#include "util.h"

#include <errno.h>
#include <stdlib.h>

bool leader_newborns__settled(const struct leader *leader, __u64 *births)
{
	bool is_watched = false;

	*births = leader->cgroup_clock->births;
	for (int i = 0; i < MAX_RUNS; i++) {
		const struct reg_run *run = &leader->registry->run[i];

		if (!run->births_seen || !run->token || !leader__is_run_alive(run->token))
			continue;
		is_watched = true;
		if (run->births_seen - 1 < *births)
			*births = run->births_seen - 1;
	}
	return is_watched;
}

bool leader_newborns__watches(const struct leader *leader, int run)
{
	return run < MAX_RUNS && leader->registry->run[run].births_seen;
}

/* Free what lies ready for nobody: taken back just now, or by a run that died. */
static int sweep(struct leader *leader)
{
	struct classes *c = &leader->classes;
	bool *is_in_use __cleanup(free_ptr) = calloc(MAX_CLASSES, sizeof(*is_in_use));
	struct id_map places = {};
	int err = is_in_use ? 0 : -ENOMEM;

	for (int i = 0; i < MAX_NEWBORNS && !err; i++) {
		const struct newborn *newborn = &leader->newborns[i];

		if (newborn->state == NEWBORN_NONE)
			continue;
		is_in_use[newborn->class] = true;
		err = id_map__set(&places, newborn->pos + 1, i);
	}
	for (__u32 i = 1; i < leader->registry->nr_classes && !err; i++) {
		if (c->class[i].state == REG_READY && classes__is_newborn(c, i) && !is_in_use[i])
			err = classes__fold(c, i, 0);
	}
	for (int i = 0; i < MAX_CGROUPS && !err; i++) {
		if (leader->cgroups[i].id == CGROUP_RESERVED && id_map__get(&places, i + 1) < 0)
			leader->cgroups[i].id = 0;
	}
	id_map__clear(&places);
	return err;
}

/*
 * Take back what was offered with another set of events. A program may be taking one meanwhile: it
 * has it then.
 */
static int retract(struct leader *leader, __u32 set)
{
	bool is_any = false;
	int err;

	for (int i = 0; i < MAX_NEWBORNS; i++) {
		struct newborn *newborn = &leader->newborns[i];
		__u32 offered = NEWBORN_OFFERED;

		if (newborn->state == NEWBORN_OFFERED &&
		    leader->classes.class[newborn->class].set != set)
			is_any |= __atomic_compare_exchange_n(&newborn->state, &offered,
							      NEWBORN_NONE, false,
							      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	}
	err = is_any ? leader_tasks__wait() : 0;
	return err ? err : sweep(leader);
}

static int offer(struct leader *leader, int set)
{
	int hint = 0;

	for (int i = 0; i < MAX_NEWBORNS; i++) {
		struct newborn *newborn = &leader->newborns[i];
		int pos, class;

		if (newborn->state != NEWBORN_NONE)
			continue;
		pos = cgroup_table__find_free(leader, &hint);
		class = pos < 0 ? pos : classes__add_newborn(&leader->classes, set);
		if (class < 0)
			return class;
		newborn->pos = pos;
		newborn->class = class;
		leader->cgroups[pos].class = class;
		__atomic_store_n(&leader->cgroups[pos].id, CGROUP_RESERVED, __ATOMIC_RELEASE);
		__atomic_store_n(&newborn->state, NEWBORN_OFFERED, __ATOMIC_SEQ_CST);
		leader__step("newborn-offered");
	}
	return 0;
}

/* The newborns in [first, end) are cgroups like others, or nobody's. */
static int settle(struct leader *leader, __u64 first, __u64 end)
{
	struct id_map needed = {};
	int err = cgroup_table__read_needed(leader, -2, &needed);

	for (__u64 n = first; n < end && !err; n++) {
		const struct newborn *newborn = &leader->newborns[n % MAX_NEWBORNS];
		struct reg_cgroup *cgroup = &leader->cgroups[newborn->pos];

		if (newborn->state != NEWBORN_TAKEN)
			continue;
		if (id_map__get(&needed, newborn->id) < 0)
			err = cgroup_table__hide(leader, newborn->id);
		__atomic_store_n(&cgroup->class, leader->classes.class[newborn->class].base,
				 __ATOMIC_RELEASE);
	}
	if (!err)
		err = leader_links__are_alive(leader, LINKS_CGROUPS) ? cgroup_table__begin_epoch(leader) :
								       cgroup_table__forget_running(leader);
	if (!err)
		err = leader_tasks__wait();
	for (__u64 n = first; n < end && !err; n++) {
		struct newborn *newborn = &leader->newborns[n % MAX_NEWBORNS];

		if (newborn->state != NEWBORN_TAKEN)
			continue;
		if (id_map__get(&needed, newborn->id) < 0)
			leader->cgroups[newborn->pos].id = 0;
		if (leader->classes.class[newborn->class].state == REG_READY)
			err = classes__fold(&leader->classes, newborn->class,
					    leader->classes.class[newborn->class].base);
		if (err)
			break;
		__atomic_store_n(&newborn->state, NEWBORN_NONE, __ATOMIC_RELEASE);
	}
	id_map__clear(&needed);
	return err;
}

int leader_newborns__settle(struct leader *leader)
{
	struct registry *reg = leader->registry;
	__u64 births;
	bool is_watched = leader_newborns__settled(leader, &births);
	int set, err = 0;

	if (reg->births_settled < births)
		err = settle(leader, reg->births_settled, births);
	if (err)
		return err;
	reg->births_settled = births;
	/* The empty set is nobody's. */
	set = is_watched ? classes__cgroups_set(&leader->classes) : 0;
	if (set < 0)
		return set;
	err = retract(leader, set);
	return !err && is_watched ? offer(leader, set) : err;
}

int leader_newborns__watch(struct leader *leader, __u64 births)
{
	int err = 0;

	if (leader->task_link_fds[WATCH_LINK_MKDIR] < 0)
		err = leader_links__take(leader, LINKS_NEW_CGROUPS);
	if (err == -ENOENT)
		err = leader_links__make(leader, LINKS_NEW_CGROUPS);
	if (err)
		return err;
	leader->registry->run[leader->run].births_seen = births + 1;
	return leader_newborns__settle(leader);
}

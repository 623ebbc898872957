// SPDX-License-Identifier: GPL-2.0
#include "bperf_cgroups.h"

#include "bperf_scopes.h"
#include "cgroup.h"
#include "leader.h"
#include "leader_cgroups.h"
#include "leader_newborns.h"
#include "leader_scopes.h"
#include "msg.h"
#include "util.h"

#include <errno.h>
#include <string.h>

struct bperf_cgroups {
	struct bperf_scopes scopes;	/* rows: positions in the list */
	struct cgroup_list *list;
	__u64 births;			/* that were looked at */
	__u64 missed;			/* before we began */
	int *is_switches;		/* per event */
};

/* Make and mark the scopes of all cgroups in a state. */
static int add_rows(struct bperf_cgroups *cgroups, enum cgroup_state state)
{
	const struct cgroup_list *list = cgroups->list;
	struct cgroup_scope *scopes __cleanup(free_ptr) = calloc(list->nr + 1, sizeof(*scopes));
	int nr = 0;

	if (!scopes)
		return -ENOMEM;
	for (int i = 0; i < list->nr; i++) {
		const struct cgroup *cgroup = list->cgroups[i];
		int scope;

		if (cgroup->state != state)
			continue;
		scope = bperf_scopes__add(&cgroups->scopes, i, cgroups->is_switches, false,
					  cgroup->id);
		if (scope < 0)
			return scope;
		scopes[nr++] = (struct cgroup_scope){ cgroup->id, cgroup->dir, scope };
	}
	return nr ? leader_cgroups__mark(cgroups->scopes.leader, &list->fs, scopes, nr) : 0;
}

int bperf_cgroups__look(struct bperf_cgroups *cgroups)
{
	const struct leader *leader = cgroups->scopes.leader;
	__u64 births = __atomic_load_n(&leader->cgroup_clock->births, __ATOMIC_ACQUIRE);
	int err = 0;

	/* They stay until we say that we have seen them. */
	for (; cgroups->list->follows && cgroups->births < births && !err; cgroups->births++) {
		const struct newborn *newborn = &leader->newborns[cgroups->births % MAX_NEWBORNS];

		err = cgroup_list__note(cgroups->list, newborn->id, newborn->parent,
					newborn->name);
	}
	return err;
}

bool bperf_cgroups__is_current(const struct bperf_cgroups *cgroups, enum cgroup_state state)
{
	const struct leader *leader = cgroups->scopes.leader;

	if (state == CGROUP_NEW && cgroups->list->follows &&
	    leader->registry->run[leader->run].births_seen != cgroups->births + 1)
		return false;
	for (int i = 0; i < cgroups->list->nr; i++) {
		if (cgroups->list->cgroups[i]->state == state)
			return false;
	}
	return true;
}

__u64 bperf_cgroups__missed(const struct bperf_cgroups *cgroups)
{
	return cgroups->list->follows ?
		       cgroups->scopes.leader->cgroup_clock->missed - cgroups->missed : 0;
}

/* What they have counted must have been read: it is nobody's now but of those above them. */
static void drop_rows(struct bperf_cgroups *cgroups)
{
	for (int i = 0; i < cgroups->list->nr; i++) {
		if (cgroups->list->cgroups[i]->state == CGROUP_GONE)
			bperf_scopes__drop(&cgroups->scopes, i);
	}
	leader_scopes__remove_kind(cgroups->scopes.leader, NO_RUN, OF_CGROUP);
}

static int add_new_rows(struct bperf_cgroups *cgroups)
{
	const struct cgroup_list *list = cgroups->list;
	int err = 0;

	if (list->nr > cgroups->scopes.nr_rows)
		err = bperf_scopes__grow(&cgroups->scopes, list->nr);
	if (!err)
		err = add_rows(cgroups, CGROUP_NEW);
	if (!err && list->follows)
		err = leader_newborns__watch(cgroups->scopes.leader, cgroups->births);
	return err;
}

int bperf_cgroups__update(struct bperf_cgroups *cgroups, enum cgroup_state state)
{
	int err = 0;

	if (state == CGROUP_NEW)
		err = add_new_rows(cgroups);
	else
		drop_rows(cgroups);
	if (err)
		bperf_scopes__explain(&cgroups->scopes, err);
	return err;
}

/* A cgroup without the controller would be counted as the one above it. */
static int check_controller(const struct cgroup_list *list)
{
	for (int i = 0; i < list->nr; i++) {
		const struct cgroup *cgroup = list->cgroups[i];

		if (cgroup->state != CGROUP_LIVE || !strcmp(cgroup->dir, list->fs.mount))
			continue;
		if (!cgroup_fs__lacks_controller(cgroup->dir))
			return 0;
		pr_err("cgroup %s: %s", cgroup->name, CGROUP_FS_ENABLE_TEXT);
		return -ENODEV;
	}
	return 0;
}

int bperf_cgroups__new(struct leader *leader, struct cgroup_list *list, const int *slots,
		       const int *is_switches, int nr, struct bperf_cgroups **out)
{
	struct bperf_cgroups *cgroups = calloc(1, sizeof(*cgroups));
	int err = -ENOMEM;

	if (!cgroups)
		return -ENOMEM;
	cgroups->list = list;
	cgroups->is_switches = malloc(nr * sizeof(*is_switches) + 1);
	if (cgroups->is_switches) {
		memcpy(cgroups->is_switches, is_switches, nr * sizeof(*is_switches));
		err = bperf_scopes__init(&cgroups->scopes, leader, OF_CGROUP, slots, nr, list->nr);
	}
	if (!err)
		err = check_controller(list);
	if (!err)
		err = leader_cgroups__attach(leader);
	if (!err)
		err = add_rows(cgroups, CGROUP_LIVE);
	/* Classes of newborns have the events of all scopes, and there may be no other yet. */
	if (!err && list->follows) {
		int scope = bperf_scopes__add(&cgroups->scopes, -1, is_switches, false,
					      CGROUP_RESERVED);

		err = scope < 0 ? scope : 0;
	}
	cgroups->births = leader->cgroup_clock->births;
	cgroups->missed = leader->cgroup_clock->missed;
	if (!err && list->follows)
		err = leader_newborns__watch(leader, cgroups->births);
	if (err) {
		if (err != -ENODEV)
			bperf_scopes__explain(&cgroups->scopes, err);
		bperf_cgroups__delete(cgroups);
		return err;
	}
	*out = cgroups;
	return 0;
}

void bperf_cgroups__delete(struct bperf_cgroups *cgroups)
{
	if (!cgroups)
		return;
	bperf_scopes__clear(&cgroups->scopes);
	free(cgroups->is_switches);
	free(cgroups);
}

struct bperf_scopes *bperf_cgroups__scopes(struct bperf_cgroups *cgroups)
{
	return &cgroups->scopes;
}

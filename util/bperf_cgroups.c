// SPDX-License-Identifier: GPL-2.0
#include "bperf_cgroups.h"

#include "bperf_scopes.h"
#include "cgroup.h"
#include "leader.h"
#include "leader_cgroups.h"
#include "leader_tasks.h"
#include "msg.h"
#include "util.h"

#include <errno.h>
#include <string.h>

struct bperf_cgroups {
	struct bperf_scopes scopes;	/* rows: positions in the list */
	const struct cgroup_list *list;
	int *is_switches;		/* per event */
};

static void explain(int err)
{
	switch (-err) {
	case ENODEV:
		return;
	case E2BIG:
		pr_err("cannot share events: more than %d different ones on one cgroup", SET_EVENTS);
		return;
	case ENOSPC:
		pr_err("cannot share events: too many cgroups (all runs together at most %d, and %d classes)",
		       MAX_CGROUPS, MAX_CLASSES - 1);
		return;
	default:
		pr_err("cannot share events: counting by cgroup failed: %s", strerror(-err));
	}
}

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

int bperf_cgroups__update(struct bperf_cgroups *cgroups)
{
	const struct cgroup_list *list = cgroups->list;
	int nr_gone = 0, err = 0;

	for (int i = 0; i < list->nr; i++) {
		if (list->cgroups[i]->state == CGROUP_GONE) {
			bperf_scopes__drop(&cgroups->scopes, i);
			nr_gone++;
		}
	}
	if (nr_gone)
		err = leader_tasks__remove_scopes(cgroups->scopes.leader, NO_RUN);
	if (!err && list->nr > cgroups->scopes.nr_rows)
		err = bperf_scopes__grow(&cgroups->scopes, list->nr);
	if (!err)
		err = add_rows(cgroups, CGROUP_NEW);
	if (err)
		explain(err);
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

int bperf_cgroups__new(struct leader *leader, const struct cgroup_list *list, const int *slots,
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
	if (err) {
		explain(err);
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

int bperf_cgroups__read(struct bperf_cgroups *cgroups)
{
	return bperf_scopes__read(&cgroups->scopes);
}

struct counts_values bperf_cgroups__on_cpu(const struct bperf_cgroups *cgroups, int event, int row,
					   int cpu)
{
	return bperf_scopes__on_cpu(&cgroups->scopes, event, row, cpu);
}

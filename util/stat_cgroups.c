// SPDX-License-Identifier: GPL-2.0
/* Cgroups that come and go while a run counts those of a pattern. */
#include "stat_pass.h"

#include "capability.h"
#include "cgroup.h"
#include "evlist.h"

#include <errno.h>

static int (*look_of(const struct counter_ops *ops))(struct counter *)
{
	return ops->look;
}

static int (*add_of(const struct counter_ops *ops))(struct counter *)
{
	return ops->add;
}

static int (*drop_of(const struct counter_ops *ops))(struct counter *)
{
	return ops->drop;
}

/*
 * Interrupted, or somebody has held the lock for a minute: what has been done stands, and the rest is
 * done the next time. Nobody's counting ends for that.
 */
static bool is_put_off(int err)
{
	return err == -EINTR || err == -ETIMEDOUT;
}

int stat_pass__add_cgroups(struct stat_pass *pass)
{
	struct cgroup_list *list = pass->run->plan.cgroups;
	struct evlist *evlist = pass->run->plan.evlist;
	int nr_models, nr_before = evlist->nr, err;

	if (!list->follows)
		return 0;
	for (nr_models = 1; nr_models < evlist->nr; nr_models++) {
		if (evlist->evsels[nr_models]->cgroup != evlist->evsels[0]->cgroup)
			break;
	}
	capability__raise();
	err = cgroup_list__scan(list);
	if (!err)
		err = stat_pass__call(pass, look_of);
	for (int i = evlist->nr / nr_models; i < list->nr && !err; i++) {
		int first = evlist__repeat(evlist, nr_models, list->cgroups[i]);

		err = first < 0 ? first : 0;
	}
	if (!err)
		err = stat_pass__assign_counters(pass, nr_before);
	if (!err)
		err = stat_pass__call(pass, add_of);
	if (!err)
		cgroup_list__begin(list);
	capability__lower();
	return is_put_off(err) ? 0 : err;
}

int stat_pass__drop_cgroups(struct stat_pass *pass)
{
	struct cgroup_list *list = pass->run->plan.cgroups;
	int err = 0;

	if (list->follows)
		err = stat_pass__call(pass, drop_of);
	if (is_put_off(err))
		return 0;
	for (int i = 0; i < list->nr && !err; i++) {
		if (list->cgroups[i]->state == CGROUP_GONE)
			cgroup_list__free(list, i);
	}
	return err;
}

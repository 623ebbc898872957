// SPDX-License-Identifier: GPL-2.0
/* Count shared events by cgroup: a scope for each cgroup of the session's list. */
#include "util/bperf/attr_map.h"
#include "util/bperf/cgroup_pool.h"
#include "util/bperf/cgroup_scopes.h"
#include "util/bperf/leader_wakeup.h"
#include "util/bperf/scope.h"
#include "util/counter/bperf_internal.h"
#include "util/counter/bperf_open.h"
#include "util/counter/scope_counter.h"
#include "util/event/evlist.h"
#include "util/host/cpumap.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/target/cgroup_list.h"

#include <errno.h>
#include <string.h>

/* How many numbers the entries of the pool can span: each can have skipped half of the places. */
#define MAX_BEHIND ((__u64)MAX_POOL_ENTRIES * (MAX_POOL_ENTRIES / 2 + 1))

struct cgrp_counter {
	struct scope_counter base; /* rows: positions in the list */
	struct cgroup_list *list;  /* borrowed from the plan */
	__u64 nr_created;	   /* cgroups of the pool that were noted in the list */
	__u64 missed;		   /* the leader's count of those without a pool entry, at open() */
	__u32 passed; /* pool entries that others reclaimed before this session looked, at open() */
	bool has_warned; /* that rows are not counted */
};

static struct cgrp_counter *to_cgrp(struct bpf_counter *base)
{
	return (struct cgrp_counter *)base;
}

/* --- cgroups that come and go --- */

/* Add the scopes of all cgroups in a state, and assign the cgroups to them. */
static int add_rows(struct cgrp_counter *self, enum cgroup_state state)
{
	const struct cgroup_list *list = self->list;
	struct cgroup_scope *scopes __cleanup(free_ptr) = calloc(list->nr + 1, sizeof(*scopes));
	int nr = 0;

	if (!scopes)
		return -ENOMEM;
	for (int i = 0; i < list->nr; i++) {
		const struct cgroup *cgroup = list->cgroups[i];
		int scope;

		/* If another back end failed meanwhile, the cgroup is still new and has its scope. */
		if (cgroup->state != state || self->base.rows.scope_of[i])
			continue;
		scope = bperf_rows__add(&self->base.rows, i, false, cgroup->id);
		if (scope < 0)
			return scope;
		scopes[nr++] = (struct cgroup_scope){cgroup->id, cgroup->dir, scope};
	}
	return nr ? cgroup_scopes__assign(self->base.rows.leader, &list->fs, scopes, nr) : 0;
}

/* If other sessions have not seen all yet, have the list polled again to reclaim the entries. */
static void note_waiting(struct cgrp_counter *self)
{
	const struct bperf_leader *leader = self->base.rows.leader;

	self->list->look_again = cgroup_pool__nr_reclaimed(leader) < self->nr_created;
}

static int poll_list(struct cgrp_counter *self)
{
	struct bperf_leader *leader = self->base.rows.leader;
	__u64 nr_created;
	int err;

	if (!self->list->follows)
		return 0;
	err = leader_wakeup__see_created(leader);
	nr_created = cgroup_pool__begin_look(leader);
	/* The pool has forgotten older ones. */
	if (nr_created > MAX_BEHIND && self->nr_created < nr_created - MAX_BEHIND)
		self->nr_created = nr_created - MAX_BEHIND;
	/* Entries stay until this session has acknowledged them, unless that takes too long. */
	for (; self->nr_created < nr_created && !err; self->nr_created++) {
		struct pool_entry pool_entry;

		if (cgroup_pool__read(leader, self->nr_created, &pool_entry))
			err = cgroup_list__note(self->list, pool_entry.id, pool_entry.parent,
						pool_entry.name);
	}
	note_waiting(self);
	return err;
}

static bool is_current(const struct cgrp_counter *self, enum cgroup_state state)
{
	const struct bperf_leader *leader = self->base.rows.leader;

	if (state == CGROUP_NEW && self->list->follows &&
	    (!cgroup_pool__has_acknowledged(leader, self->nr_created) ||
	     cgroup_pool__can_reclaim(leader)))
		return false;
	for (int i = 0; i < self->list->nr; i++) {
		if (self->list->cgroups[i]->state == state)
			return false;
	}
	return true;
}

static __u64 nr_missed(const struct cgrp_counter *self)
{
	const struct bperf_leader *leader = self->base.rows.leader;

	return self->list->follows ? cgroup_pool__nr_missed(leader) - self->missed +
					     (cgroup_pool__passed(leader) - self->passed) :
				     0;
}

/* Their counts must have been read: from now on these belong to the cgroups above only. */
static int drop_rows(struct cgrp_counter *self)
{
	for (int i = 0; i < self->list->nr; i++) {
		if (self->list->cgroups[i]->state == CGROUP_GONE)
			bperf_rows__drop(&self->base.rows, i);
	}
	scope__remove_kind(self->base.rows.leader, NO_SESSION, SCOPE_SET_CGROUP);
	return 0;
}

static const char *reason(int err)
{
	switch (-err) {
	case ENOSPC:
		return "all sessions together count too many (count fewer, or end other sessions)";
	case E2BIG:
		return "all sessions together count too many different events on one cgroup";
	default:
		return strerror(-err);
	}
}

static void drop_new_rows(struct cgrp_counter *self)
{
	for (int i = 0; i < self->list->nr; i++) {
		if (self->list->cgroups[i]->state == CGROUP_NEW)
			bperf_rows__drop(&self->base.rows, i);
	}
	scope__remove_kind(self->base.rows.leader, NO_SESSION, SCOPE_SET_CGROUP);
}

/* Return: whether there is no room, rather than no success this time. */
static bool is_full(int err)
{
	return err == -ENOSPC || err == -E2BIG;
}

/* A row without a scope is printed as <not counted>; the others go on. */
static void give_up_new(struct cgrp_counter *self, int err)
{
	if (!self->has_warned)
		pr_warn("new cgroups are printed as <not counted>: %s", reason(err));
	self->has_warned = true;
}

static int add_new_rows(struct cgrp_counter *self)
{
	const struct cgroup_list *list = self->list;
	int err = 0;

	if (list->nr > self->base.rows.nr_rows)
		err = bperf_rows__grow(&self->base.rows, list->nr);
	if (err)
		return err;
	err = add_rows(self, CGROUP_NEW);
	if (err)
		drop_new_rows(self);
	/* The new cgroups stay new, with the pool entries that count them, for the next look. */
	if (err && !is_full(err))
		return err == -EBUSY ? -EWOULDBLOCK : err;
	if (err)
		give_up_new(self, err);
	if (!list->follows)
		return 0;
	err = cgroup_pool__watch(self->base.rows.leader, self->nr_created);
	if (err)
		pr_verbose("places for new cgroups are missing: %s", reason(err));
	note_waiting(self);
	return 0;
}

/* A cgroup without the controller would be counted as its parent. */
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

/* Under the lock. */
static int add_live(struct scope_counter *base)
{
	struct cgrp_counter *self = to_cgrp(&base->base);
	struct bperf_leader *leader = base->rows.leader;
	int err = cgroup_scopes__attach(leader);

	if (!err)
		err = add_rows(self, CGROUP_LIVE);
	/* Scope sets of pool entries have the events of all scopes, and there may be no other yet. */
	if (!err && self->list->follows) {
		int scope = bperf_rows__add(&base->rows, -1, false, CGROUP_RESERVED);

		err = scope < 0 ? scope : 0;
	}
	/* The kernel hides cgroups, and a message was printed. */
	if (err)
		return err == -EOPNOTSUPP ? COUNT_OTHERWISE : err;
	/* The session that was woken may be gone. */
	self->nr_created = cgroup_pool__begin_look(leader);
	self->missed = cgroup_pool__nr_missed(leader);
	self->passed = cgroup_pool__passed(leader);
	return self->list->follows ? cgroup_pool__watch(leader, self->nr_created) : 0;
}

/* --- operations --- */

static bool cgrp__counts(const struct evsel *evsel)
{
	return evsel->cgroup;
}

static struct bpf_counter *cgrp__new(struct bperf *bperf)
{
	struct cgrp_counter *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->base.base = (struct bpf_counter){&bperf_cgrp_ops, bperf};
	self->list = bperf->base.plan->cgroups;
	return &self->base.base;
}

static int cgrp__open(struct bpf_counter *base)
{
	struct cgrp_counter *self = to_cgrp(base);
	int err = check_controller(self->list);

	return err ? err :
		     scope_counter__open(&self->base, SCOPE_SET_CGROUP, self->list->nr, add_live);
}

static int cgrp__wakeup_fd(struct bpf_counter *base)
{
	return to_cgrp(base)->list->follows ? leader_wakeup__created_fd(base->bperf->leader) : -1;
}

/* A cgroup that came or went since the last poll has no row, or none any more. */
static bool is_vacant(const struct evsel *evsel)
{
	return evsel->cgroup->state == CGROUP_NEW || evsel->cgroup->state == CGROUP_FREE;
}

static void cgrp__read(struct bpf_counter *base)
{
	struct scope_counter *self = (struct scope_counter *)base;
	struct evsel *evsel;
	int i;

	if (!scope_counter__read(self))
		return;
	evlist__for_each(base->bperf->base.plan->evlist, evsel, i) {
		const struct bperf_evsel *priv = evsel->priv;

		if (!bpf_counter__has(base, evsel) || is_vacant(evsel))
			continue;
		for (int c = 0; c < evsel->counts->nr_cpus; c++) {
			struct counts_values now = bperf_rows__reading(
				&self->rows, priv->event, evsel->cgroup->pos, evsel->cpus->cpu[c]);

			scope_counter__account(self, evsel, c, &now);
		}
	}
}

static int cgrp__poll_cgroups(struct bpf_counter *base)
{
	return poll_list(to_cgrp(base));
}

/* Bring the scopes up to date for the cgroups in a state, unless nothing is to be done. */
static int update(struct cgrp_counter *self, enum cgroup_state state)
{
	struct attr_map *attr_map = self->base.base.bperf->attr_map;
	int err;

	if (is_current(self, state))
		return 0;
	err = attr_map__try_lock_tasks(attr_map);
	if (err)
		return err;
	err = state == CGROUP_NEW ? add_new_rows(self) : drop_rows(self);
	attr_map__unlock_tasks(attr_map);
	return err;
}

/* The evsel may have counted for another cgroup: forget that. The new one's scope begins at 0. */
static void begin_anew(const struct scope_counter *self, struct evsel *evsel, bool is_enabled)
{
	struct bperf_evsel *priv = evsel->priv;

	/* Its window may begin here, if --control had disabled the event. */
	if (!priv->is_open && is_enabled)
		priv->failed_base = scope_counter__failed_reads(self, priv);
	if (evsel->model)
		priv->event = ((struct bperf_evsel *)evsel->model->priv)->event;
	priv->is_wanted = priv->is_open = is_enabled;
	for (int c = 0; c < evsel->counts->nr_cpus; c++) {
		priv->cell[c] = (struct window){.has_base = is_enabled};
		evsel->counts->values[c] = (struct counts_values){};
	}
}

static int cgrp__add_cgroups(struct bpf_counter *base)
{
	struct bperf *bperf = base->bperf;
	struct evsel *evsel;
	int i, err = update(to_cgrp(base), CGROUP_NEW);

	if (!err)
		err = bperf__open_events(bperf);
	if (err)
		return err;
	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		if (bpf_counter__has(base, evsel) && evsel->cgroup->state == CGROUP_NEW)
			begin_anew(&to_cgrp(base)->base, evsel, bperf->is_enabled);
	}
	return 0;
}

static int cgrp__drop_cgroups(struct bpf_counter *base)
{
	/* Their last counts have not been read: they keep their rows for the next interval. */
	return to_cgrp(base)->base.is_unread ? -EWOULDBLOCK : update(to_cgrp(base), CGROUP_GONE);
}

static void cgrp__report(struct bpf_counter *base)
{
	struct cgrp_counter *self = to_cgrp(base);

	scope_counter__report_missed(&self->base);
	if (self->base.is_open && nr_missed(self))
		pr_warn("%llu new cgroups were found late: their first activity is counted for their parents only",
			nr_missed(self));
	scope_counter__report_unread(&self->base);
}

static void cgrp__delete(struct bpf_counter *base)
{
	scope_counter__clear((struct scope_counter *)base);
	free(base);
}

const struct bpf_counter_ops bperf_cgrp_ops = {
	.counts = cgrp__counts,
	.new = cgrp__new,
	.open = cgrp__open,
	.wakeup_fd = cgrp__wakeup_fd,
	.read = cgrp__read,
	.poll_cgroups = cgrp__poll_cgroups,
	.add_cgroups = cgrp__add_cgroups,
	.drop_cgroups = cgrp__drop_cgroups,
	.nr_failed = scope_counter__nr_failed,
	.report = cgrp__report,
	.delete = cgrp__delete,
};

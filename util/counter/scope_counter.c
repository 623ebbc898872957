// SPDX-License-Identifier: GPL-2.0
#include "util/counter/scope_counter.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/leader.h"
#include "util/bperf/leader_links.h"
#include "util/bperf/leader_slots.h"
#include "util/bperf/leader_tasks.h"
#include "util/bperf/scope.h"
#include "util/bperf/session.h"
#include "util/counter/bperf_internal.h"
#include "util/counter/bperf_open.h"
#include "util/counter/bperf_read.h"
#include "util/event/evlist.h"
#include "util/host/cpumap.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <string.h>

static enum switch_event switches_of(const struct evsel *evsel)
{
	if (evsel->attr.exclude_kernel)
		return SWITCH_EVENT_NONE;
	if (evsel__is(evsel, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES))
		return SWITCH_EVENT_ALL;
	return evsel__is(evsel, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES) ?
		       SWITCH_EVENT_CGROUP :
		       SWITCH_EVENT_NONE;
}

/* --- opening --- */

/* Let the rows of tasks have only sums of all CPUs, unless they are broken down by CPU; cgroups if they are many. */
static int sum_cpus(struct scope_counter *self)
{
	const struct counter_plan *plan = self->base.bperf->base.plan;
	int nr_cpus = bperf_leader__nr_cpus(self->rows.leader);
	bool *is_summed;
	struct evsel *evsel;
	int i;

	if (self->rows.kind == SCOPE_SET_TASK ? plan->by_cpu : !plan->sums_cpus)
		return 0;
	is_summed = calloc(nr_cpus, sizeof(*is_summed));
	if (!is_summed)
		return -ENOMEM;
	evlist__for_each(plan->evlist, evsel, i) {
		/* An event of a further cgroup has the CPUs of the first one's. */
		if (evsel->model || !bpf_counter__has(&self->base, evsel))
			continue;
		for (int cpu = 0; cpu < nr_cpus; cpu++)
			is_summed[cpu] |=
				cpumap__is_any(evsel->cpus) || cpumap__has(evsel->cpus, cpu);
	}
	bperf_rows__sum_cpus(&self->rows, is_summed);
	return 0;
}

/* Under the lock. */
static int make_scopes(struct scope_counter *self, enum scope_set_kind kind, int nr_rows,
		       int (*add)(struct scope_counter *self))
{
	struct bperf_leader *leader = self->base.bperf->leader;
	struct scope_event events[MAX_EVENTS];
	int slots[MAX_EVENTS], err;
	const struct evsel *evsels[MAX_EVENTS];
	int nr = bpf_counter__collect_slots(&self->base, slots, evsels);

	for (int i = 0; i < nr; i++)
		events[i] = (struct scope_event){slots[i], switches_of(evsels[i])};
	(void)scope__repair(leader); /* what fails for it also fails for us */
	err = bperf_rows__init(&self->rows, leader, kind, events, nr);
	if (!err)
		err = sum_cpus(self);
	if (!err)
		err = bperf_rows__grow(&self->rows, nr_rows);
	scope__expect(leader, nr_rows, nr);
	if (!err)
		err = add(self);
	scope__expect(leader, 0, 0);
	self->is_open = !err;
	if (!err) {
		self->lost = leader_tasks__lost(leader);
		self->exits = leader_links__skipped_exits(leader);
	} else if (err != -ESRCH && err != COUNT_OTHERWISE && !scope__is_full(err)) {
		bperf_rows__explain(&self->rows, err);
	}
	return err;
}

int scope_counter__open(struct scope_counter *self, enum scope_set_kind kind, int nr_rows,
			int (*add)(struct scope_counter *self))
{
	struct bperf *bperf = self->base.bperf;
	int err;

	(void)session__repair_scopes(bperf->leader, false); /* or the next session does it */
	err = attr_map__lock_tasks(bperf->attr_map);
	if (err)
		return err;
	err = make_scopes(self, kind, nr_rows, add);
	attr_map__unlock_tasks(bperf->attr_map);
	if (err)
		bperf_rows__clear(&self->rows);
	return scope__is_full(err) ?
		       bperf__leave_for_room(bperf, scope__why_full(bperf->leader, kind, err)) :
		       err;
}

/* --- reading --- */

/* A window that begins or ends unread has no base: later readings must not count from an old one. */
static void forget_bases(const struct scope_counter *self)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(self->base.bperf->base.plan->evlist, evsel, i) {
		struct bperf_evsel *priv = evsel->priv;

		if (!bpf_counter__has(&self->base, evsel) ||
		    bperf_evsel__moment(priv) == WINDOW_READ)
			continue;
		for (int cell = 0; cell < evsel->counts->nr_cpus * evsel->counts->nr_threads;
		     cell++)
			window__forget(&priv->cell[cell]);
	}
}

__u32 scope_counter__failed_reads(const struct scope_counter *self, const struct bperf_evsel *priv)
{
	return leader_slots__failed(self->base.bperf->leader, priv->slot, self->rows.kind);
}

void scope_counter__note_failed(const struct scope_counter *self)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(self->base.bperf->base.plan->evlist, evsel, i) {
		struct bperf_evsel *priv = evsel->priv;
		enum window_moment moment;

		if (!bpf_counter__has(&self->base, evsel) || evsel->model)
			continue;
		moment = bperf_evsel__moment(priv);
		if (moment == WINDOW_BEGIN)
			priv->failed_base = scope_counter__failed_reads(self, priv);
		else if (moment == WINDOW_END)
			priv->failed += scope_counter__failed_reads(self, priv) - priv->failed_base;
	}
}

/* Return: whether an event of ours is counted, until now or still. */
static bool is_in_window(const struct scope_counter *self)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(self->base.bperf->base.plan->evlist, evsel, i) {
		const struct bperf_evsel *priv = evsel->priv;

		if (bpf_counter__has(&self->base, evsel) && priv->is_open)
			return true;
	}
	return false;
}

/* Slices that failed show that tasks or cgroups of the session ran. */
static void note_failed_slices(struct scope_counter *self)
{
	if (self->rows.failed != self->failed && is_in_window(self))
		self->has_run = true;
	self->failed = self->rows.failed;
}

bool scope_counter__read(struct scope_counter *self)
{
	int err = self->is_open ? bperf_rows__read(&self->rows) : 0;

	if (self->is_open)
		scope_counter__note_failed(self);
	self->is_unread = err;
	if (err) {
		self->nr_unread++;
		self->unread_err = -err;
		forget_bases(self);
	} else if (self->is_open) {
		note_failed_slices(self);
	}
	return self->is_open && !err;
}

void scope_counter__account(struct scope_counter *self, struct evsel *evsel, int cell,
			    const struct counts_values *now)
{
	bperf_evsel__account(evsel, cell, now, 0);
	self->has_run |= evsel->counts->values[cell].enabled_ns > 0;
}

/* --- the end --- */

/* In the windows that are over, and in an open one until now. */
static __u32 failed_in_windows(const struct scope_counter *self, const struct bperf_evsel *priv)
{
	return priv->failed +
	       (priv->is_open ? scope_counter__failed_reads(self, priv) - priv->failed_base : 0);
}

__u32 scope_counter__nr_failed(struct bpf_counter *base, const struct evsel *evsel)
{
	const struct scope_counter *self = (const struct scope_counter *)base;

	if (!self->is_open || evsel->model || !self->has_run)
		return 0;
	return failed_in_windows(self, evsel->priv);
}

void scope_counter__report_missed(const struct scope_counter *self)
{
	const struct bperf_leader *leader = self->base.bperf->leader;
	__u64 nr;

	if (!self->is_open)
		return;
	nr = leader_tasks__lost(leader) - self->lost + leader_tasks__missed(leader);
	if (nr)
		pr_warn("%llu switches or new tasks were missed: counts may be short", nr);
}

void scope_counter__report_exits(const struct scope_counter *self)
{
	__u64 nr;

	if (!self->is_open)
		return;
	nr = leader_links__skipped_exits(self->base.bperf->leader) - self->exits;
	if (nr)
		pr_warn("%llu exits went unseen: counts may include what followed each", nr);
}

void scope_counter__report_unread(const struct scope_counter *self)
{
	if (self->nr_unread)
		pr_warn("%d readings failed (%s): counts may be short", self->nr_unread,
			strerror(self->unread_err));
}

void scope_counter__clear(struct scope_counter *self)
{
	bperf_rows__clear(&self->rows);
	self->is_open = false;
}

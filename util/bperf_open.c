// SPDX-License-Identifier: GPL-2.0
/* Opening the events of a plan, shared with whoever counts the same, for what the plan names. */
#include "bperf.h"

#include "attr_map.h"
#include "bperf_cgroups.h"
#include "bperf_progs.h"
#include "bperf_tasks.h"
#include "cpumap.h"
#include "evlist.h"
#include "explain.h"
#include "leader.h"
#include "leader_tasks.h"
#include "msg.h"
#include "perf_event.h"
#include "pmu.h"
#include "target.h"
#include "util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- events --- */

/* Where events of this group can be: its PMUs' CPUs that are online, whatever the run asks for. */
static struct cpumap *group_cpus(struct evsel *const *members, int nr)
{
	struct cpumap *cpus = cpumap__online();

	for (int i = 0; i < nr && cpus; i++) {
		const struct pmu *pmu = members[i]->pmu;
		struct cpumap *both;

		if (!pmu || !pmu->cpus)
			continue;
		both = cpumap__and(cpus, pmu->cpus);
		cpumap__delete(cpus);
		cpus = both;
	}
	return cpus;
}

static int set_counting(const struct counter_plan *plan, struct evsel *evsel, int slot)
{
	struct bperf_evsel *priv;
	int err;

	evsel->threads_as_one = evsel->threads && !evsel->in_progs && !plan->target->per_thread;
	err = evsel__alloc_counts(evsel);
	if (err)
		return err;
	priv = calloc(1, sizeof(*priv) + evsel->counts->nr_cpus * evsel->counts->nr_threads *
						 sizeof(priv->cell[0]));
	if (!priv)
		return -ENOMEM;
	priv->slot = slot;
	evsel->priv = priv;
	evsel->state = EVSEL_COUNTING;
	return 0;
}

static void refuse(struct evsel *evsel, int err)
{
	evsel->err = -err;
	explain__take(evsel->counter->plan->explain, evsel->idx, -err);
	evsel->state = perf_event__is_unsupported(err) ? EVSEL_NOT_SUPPORTED : EVSEL_SKIPPED;
}

/*
 * Open what the kernel takes of a group; a member that it refuses is left out, and the others
 * count. A weak group that is refused as a group is no error of any member: -EAGAIN.
 */
static int open_group(struct bperf *bperf, struct evsel *const *group, int nr_group, bool is_weak)
{
	struct evsel *members[MAX_EVENTS];
	struct attr_key keys[MAX_EVENTS];
	int nr = nr_group, first = -ENODEV;

	if (nr > MAX_EVENTS) {
		pr_err("a group of %d events cannot be shared: %d at most", nr, MAX_EVENTS);
		return -E2BIG;
	}
	for (int i = 0; i < nr; i++) {
		members[i] = group[i];
		attr_map__key(&group[i]->attr, &keys[i]);
	}
	while (nr) {
		struct cpumap *cpus = group_cpus(members, nr);
		int refused;

		if (!cpus)
			return -errno;
		first = leader__add_events(bperf->leader, keys, nr, cpus, &refused);
		cpumap__delete(cpus);
		if (first >= 0)
			break;
		if (refused < 0) {
			if (first == -ENOSPC)
				pr_err("cannot share '%s': %d events are shared already, the most there can be",
				       members[0]->name, MAX_EVENTS);
			else
				pr_err("cannot share '%s': %s", members[0]->name, strerror(-first));
			return first;
		}
		if (is_weak && nr > 1 && (first == -EINVAL || first == -EBADF))
			return -EAGAIN;
		refuse(members[refused], first);
		nr--;
		for (int i = refused; i < nr; i++) {
			members[i] = members[i + 1];
			keys[i] = keys[i + 1];
		}
	}
	for (int i = 0; i < nr; i++) {
		int err = set_counting(bperf->base.plan, members[i], first + i);

		if (err)
			return err;
	}
	return 0;
}

/* What is repeated for another cgroup is the same event. */
static int copy_model(const struct bperf *bperf, struct evsel *evsel)
{
	const struct evsel *model = evsel->model;

	if (model->state == EVSEL_COUNTING)
		return set_counting(bperf->base.plan, evsel,
				    ((struct bperf_evsel *)model->priv)->slot);
	evsel->state = model->state;
	evsel->err = model->err;
	return 0;
}

int bperf__open_events(struct bperf *bperf)
{
	struct evlist *evlist = bperf->base.plan->evlist;
	int err = 0;

	for (int i = 0; i < evlist->nr && !err; i++) {
		struct evsel *evsel = evlist->evsels[i];

		if (evsel->counter != &bperf->base || evsel->state != EVSEL_UNOPENED)
			continue;
		if (evsel->runs) {
			err = set_counting(bperf->base.plan, evsel, -1);
			continue;
		}
		if (evsel->model) {
			err = copy_model(bperf, evsel);
			continue;
		}
		if (!evsel__is_leader(evsel))
			continue;
		/* One event for a whole package or box cannot tell tasks or cgroups apart. */
		if ((evsel->threads || evsel->cgroup) && evsel->needs_cpu) {
			for (int m = 0; m < evsel->nr_members; m++)
				refuse(evlist->evsels[i + m], -EINVAL);
			continue;
		}
		err = open_group(bperf, &evlist->evsels[i], evsel->nr_members, evsel->weak);
		if (err != -EAGAIN)
			continue;
		err = 0;
		for (int m = 0; m < evsel->nr_members && !err; m++)
			err = open_group(bperf, &evlist->evsels[i + m], 1, false);
	}
	return err;
}

/* --- what is counted --- */

static int collect_cpus(struct bperf *bperf)
{
	struct evlist *evlist = bperf->base.plan->evlist;
	struct cpumap *possible = cpumap__possible();
	struct evsel *evsel;
	int *list, nr = 0, i;

	if (!possible)
		return -errno;
	list = calloc(possible->nr, sizeof(*list));
	for (int c = 0; list && c < possible->nr; c++) {
		bool is_used = false;

		evlist__for_each(evlist, evsel, i) {
			if (bperf__is_counting(bperf, evsel) && !evsel->cgroup &&
			    cpumap__has(evsel->cpus, possible->cpu[c]))
				is_used = true;
		}
		if (is_used)
			list[nr++] = possible->cpu[c];
	}
	bperf->cpus = list ? cpumap__new(list, nr) : NULL;
	bperf->sharing = calloc(evlist->nr, sizeof(*bperf->sharing));
	free(list);
	cpumap__delete(possible);
	return bperf->cpus && bperf->sharing ? 0 : -ENOMEM;
}

static enum switch_event switches_of(const struct evsel *evsel)
{
	if (evsel->attr.exclude_kernel)
		return NO_SWITCHES;
	if (evsel__is(evsel, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES))
		return ALL_SWITCHES;
	return evsel__is(evsel, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES) ?
		       CGROUP_SWITCHES : NO_SWITCHES;
}

/*
 * The slots that scopes or BPF programs count; an event given twice is one to the leader.
 * @slots, @evsels: MAX_EVENTS of them. Return: how many.
 */
static int collect_slots(struct bperf *bperf, bool of_cgroups, int *slots,
			 const struct evsel **evsels)
{
	struct evsel *evsel;
	int nr = 0, i;

	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		struct bperf_evsel *priv = evsel->priv;

		if (!bperf__is_counting(bperf, evsel) || evsel->runs ||
		    !evsel->cgroup == of_cgroups)
			continue;
		for (priv->event = 0; priv->event < nr; priv->event++) {
			if (slots[priv->event] == priv->slot)
				break;
		}
		if (priv->event == nr) {
			evsels[nr] = evsel;
			slots[nr++] = priv->slot;
		}
	}
	return nr;
}

static int open_progs(struct bperf *bperf)
{
	const struct evsel *evsels[MAX_EVENTS];
	const char *names[MAX_EVENTS];
	int slots[MAX_EVENTS], nr = collect_slots(bperf, false, slots, evsels);

	for (int i = 0; i < nr; i++)
		names[i] = evsels[i]->name;
	return bperf_progs__new(bperf->leader, bperf->base.plan->progs, slots, names, nr,
				&bperf->progs);
}

/* Have the events counted for the target's tasks. */
static int open_tasks(struct bperf *bperf)
{
	const struct counter_plan *plan = bperf->base.plan;
	const struct evsel *evsels[MAX_EVENTS];
	int slots[MAX_EVENTS], is_switches[MAX_EVENTS], i, err;
	int nr = collect_slots(bperf, false, slots, evsels);
	struct evsel *evsel;

	if (!nr)
		return 0;
	for (i = 0; i < nr; i++)
		is_switches[i] = switches_of(evsels[i]);
	bperf->exec_enables = plan->enable_on_exec;
	err = bperf_tasks__new(bperf->leader, plan, slots, is_switches, nr, &bperf->tasks);
	if (!err) {
		bperf->lost = leader_tasks__lost(bperf->leader);
		return 0;
	}
	if (err != -ESRCH)
		return err;
	evlist__for_each(plan->evlist, evsel, i) {
		if (bperf__is_counting(bperf, evsel))
			refuse(evsel, -ESRCH);
	}
	return 0;
}

/* The same for cgroups. */
static int open_cgroups(struct bperf *bperf)
{
	const struct evsel *evsels[MAX_EVENTS];
	int slots[MAX_EVENTS], is_switches[MAX_EVENTS], err;
	int nr = collect_slots(bperf, true, slots, evsels);

	if (!nr)
		return 0;
	for (int i = 0; i < nr; i++)
		is_switches[i] = switches_of(evsels[i]);
	err = bperf_cgroups__new(bperf->leader, bperf->base.plan->cgroups, slots, is_switches, nr,
				 &bperf->cgroups);
	if (!err)
		bperf->lost = leader_tasks__lost(bperf->leader);
	return err;
}

bool bperf__counts_cgroups(const struct bperf *bperf)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		if (evsel->counter == &bperf->base && evsel->cgroup)
			return true;
	}
	return false;
}

int bperf__open_targets(struct bperf *bperf)
{
	const struct counter_plan *plan = bperf->base.plan;
	int err = plan->progs   ? open_progs(bperf) :
		  plan->threads ? open_tasks(bperf) :
				  collect_cpus(bperf);

	return err ? err : open_cgroups(bperf);
}

// SPDX-License-Identifier: GPL-2.0
#include "util/counter/bperf_open.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/session.h"
#include "util/counter/bperf_internal.h"
#include "util/event/evlist.h"
#include "util/event/pmu.h"
#include "util/host/cpumap.h"
#include "util/host/perf_event.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/target/target.h"
#include "util/target/thread_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool bperf__is_only_shared(const struct bperf *bperf)
{
	for (int i = 0; i < NR_BPF_COUNTERS; i++) {
		if (bperf->counters[i] && bperf->counters[i]->ops->is_only_shared)
			return true;
	}
	return false;
}

const char *bperf__otherwise(const struct bperf *bperf)
{
	const char *given = bperf->base.plan->otherwise;

	return given			    ? given :
	       bperf__is_only_shared(bperf) ? "BPF programs cannot be counted" :
					      "counting with events of this session's own";
}

int bperf__leave_for_room(const struct bperf *bperf, char *why)
{
	bool is_only_shared = bperf__is_only_shared(bperf);
	static bool has_warned;

	if (is_only_shared)
		pr_err("%s: %s", why ? why : strerror(ENOMEM), bperf__otherwise(bperf));
	else if (!has_warned)
		pr_warn("%s: %s", why ? why : strerror(ENOMEM), bperf__otherwise(bperf));
	has_warned = true;
	free(why);
	return is_only_shared ? -ENOSPC : COUNT_OTHERWISE;
}

/* The online CPUs of the PMUs of a group, whatever CPUs the session asks for. */
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

static struct bpf_counter *counter_of(const struct bperf *bperf, const struct evsel *evsel)
{
	for (int i = 0; i < NR_BPF_COUNTERS; i++) {
		if (bperf->counters[i] && bperf->counters[i]->ops->counts(evsel))
			return bperf->counters[i];
	}
	return NULL;
}

static int set_counting(const struct bperf *bperf, struct evsel *evsel, int slot)
{
	const struct counter_plan *plan = bperf->base.plan;
	struct bperf_evsel *priv;
	int err;

	evsel->threads_as_one = evsel->threads && !evsel->in_progs && !plan->target->per_thread;
	evsel->cpus_as_one = evsel->cgroup && plan->sums_cpus;
	err = evsel__alloc_counts(evsel);
	if (err)
		return err;
	priv = calloc(1, sizeof(*priv) + evsel->counts->nr_cpus * evsel->counts->nr_threads *
						 sizeof(priv->cell[0]));
	if (!priv)
		return -ENOMEM;
	priv->counter = counter_of(bperf, evsel);
	priv->slot = slot;
	evsel->priv = priv;
	evsel->state = EVSEL_COUNTING;
	return 0;
}

void bperf_evsel__refuse(struct evsel *evsel, int err)
{
	evsel->err = -err;
	counter__refused(evsel->counter, evsel, -err);
	evsel->state = perf_event__is_unsupported(err) ? EVSEL_NOT_SUPPORTED : EVSEL_SKIPPED;
}

/*
 * Open a group. If the kernel refuses a member, leave it out and count the others.
 * Return: 0 or -errno; -EAGAIN: a weak group was refused as a group.
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
		attr_map__key(&group[i]->attr, group[i]->more_config, &keys[i]);
	}
	while (nr) {
		struct cpumap *cpus = group_cpus(members, nr);
		int refused;

		if (!cpus)
			return -errno;
		first = session__add_events(bperf->leader, keys, nr, cpus, &refused);
		cpumap__delete(cpus);
		if (first >= 0)
			break;
		if (first == -ETIMEDOUT || first == -EINTR)
			return first;
		if (refused < 0 && first == -ENOSPC)
			return bperf__leave_for_room(
				bperf,
				xasprintf(
					"no room for '%s' among the %d events that all sessions together can share",
					members[0]->name, MAX_EVENTS));
		if (refused < 0) {
			/* The lock has a message of its own. */
			if (!msg__nr_errors())
				pr_err("cannot share '%s': %s", members[0]->name, strerror(-first));
			return first;
		}
		if (is_weak && nr > 1 && (first == -EINVAL || first == -EBADF))
			return -EAGAIN;
		bperf_evsel__refuse(members[refused], first);
		nr--;
		for (int i = refused; i < nr; i++) {
			members[i] = members[i + 1];
			keys[i] = keys[i + 1];
		}
	}
	for (int i = 0; i < nr; i++) {
		int err = set_counting(bperf, members[i], first + i);

		if (err)
			return err;
	}
	return 0;
}

/* Use the open event of the first cgroup for another one. */
static int copy_model(const struct bperf *bperf, struct evsel *evsel)
{
	const struct evsel *model = evsel->model;

	if (model->state == EVSEL_COUNTING)
		return set_counting(bperf, evsel, ((struct bperf_evsel *)model->priv)->slot);
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
			err = set_counting(bperf, evsel, -1);
			continue;
		}
		if (evsel->model) {
			err = copy_model(bperf, evsel);
			continue;
		}
		if (!evsel__is_leader(evsel))
			continue;
		/* An event of a whole package or box counts for all of its tasks and cgroups together. */
		if (evsel->needs_cpu && !counter_of(bperf, evsel)->ops->counts_whole_cpus) {
			for (int m = 0; m < evsel->nr_members; m++)
				bperf_evsel__refuse(evlist->evsels[i + m], -EINVAL);
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

int bpf_counter__collect_slots(const struct bpf_counter *self, int slots[MAX_EVENTS],
			       const struct evsel *evsels[MAX_EVENTS])
{
	struct evsel *evsel;
	int nr = 0, i;

	evlist__for_each(self->bperf->base.plan->evlist, evsel, i) {
		struct bperf_evsel *priv = evsel->priv;

		if (!bpf_counter__has(self, evsel) || priv->slot < 0)
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

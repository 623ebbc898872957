// SPDX-License-Identifier: GPL-2.0
/*
 * Windows. The events count all the time, for everybody; the window of one event in one run is the
 * difference of two readings, so enabling and disabling change nothing in the kernel and nothing
 * from outside a window can get in.
 */
#include "bperf.h"

#include "bperf_cgroups.h"
#include "bperf_progs.h"
#include "bperf_scopes.h"
#include "cgroup.h"
#include "cpumap.h"
#include "evlist.h"
#include "leader.h"
#include "msg.h"
#include "thread_map.h"
#include "util.h"

#include <errno.h>
#include <string.h>

enum moment { NONE, BEGIN, READ, END };

static enum moment moment_of(const struct bperf_evsel *priv)
{
	if (priv->is_open)
		return priv->is_wanted ? READ : END;
	return priv->is_wanted ? BEGIN : NONE;
}

/* After all of its cells. */
static void settle(struct bperf *bperf)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		struct bperf_evsel *priv = evsel->priv;

		if (bperf__is_counting(bperf, evsel))
			priv->is_open = priv->is_wanted;
	}
}

static void count_error(struct bperf_evsel *priv, int err)
{
	priv->nr_errors++;
	priv->last_err = err;
}

static bool is_newer(const struct event_reading *now, const struct event_reading *base)
{
	return now->counter >= base->counter && now->enabled_ns >= base->enabled_ns &&
	       now->running_ns >= base->running_ns;
}

/*
 * Take one reading into account. A reading that failed leaves the count as it was; where there is
 * no perf event, because its CPU was offline, the last reading is what there is.
 */
static void take(struct evsel *evsel, int cell, const struct event_reading *now)
{
	struct bperf_evsel *priv = evsel->priv;
	enum moment moment = moment_of(priv);
	struct bperf_cpu *cpu = &priv->cell[cell];
	struct counts_values *count = &evsel->counts->values[cell];
	const struct event_reading *base = &cpu->base;

	if (moment == NONE)
		return;
	if (now->err && now->err != ENOENT) {
		count_error(priv, now->err);
	} else if (moment != BEGIN && cpu->has_base && is_newer(now, base)) {
		count->val = cpu->before.val + now->counter - base->counter;
		count->ena = cpu->before.ena + now->enabled_ns - base->enabled_ns;
		count->run = cpu->before.run + now->running_ns - base->running_ns;
	} else {
		if (moment != BEGIN && cpu->has_base)
			count_error(priv, ERANGE);
		cpu->before = *count;
		cpu->base = *now;
		cpu->has_base = true;
	}
	if (moment == END) {
		cpu->before = *count;
		cpu->has_base = false;
	}
}

static int sync_cpu(struct bperf *bperf, int cpu)
{
	struct evlist *evlist = bperf->base.plan->evlist;
	struct event_reading readings[MAX_EVENTS];
	uint64_t mask[MASK_WORDS] = {};
	int slots[MAX_EVENTS];
	struct evsel *evsel;
	bool is_offline;
	int nr = 0, i, err;

	evlist__for_each(evlist, evsel, i) {
		const struct bperf_evsel *priv = evsel->priv;

		if (!bperf__is_counting(bperf, evsel) || evsel->cgroup ||
		    !cpumap__has(evsel->cpus, cpu))
			continue;
		mask[priv->slot / 64] |= 1ULL << priv->slot % 64;
		bperf->sharing[nr++] = evsel;
	}
	err = leader__sync(bperf->leader, cpu, mask, false);
	/* What an offline CPU counted was read when it went. */
	is_offline = err == -ENXIO;
	if (err && !is_offline) {
		pr_err("reading the shared events of CPU %d failed: %s", cpu, strerror(-err));
		return err;
	}
	/* Events given twice share a slot, so there can be more events than slots: in batches. */
	for (int done = 0; done < nr;) {
		int batch = nr - done < MAX_EVENTS ? nr - done : MAX_EVENTS;

		for (i = 0; i < batch; i++)
			slots[i] = ((struct bperf_evsel *)bperf->sharing[done + i]->priv)->slot;
		leader__readings(bperf->leader, cpu, slots, batch, readings);
		for (i = 0; i < batch; i++) {
			int cpu_idx;

			evsel = bperf->sharing[done + i];
			cpu_idx = cpumap__idx(evsel->cpus, cpu);
			evsel->counts->offline[cpu_idx] = is_offline;
			take(evsel, cpu_idx, &readings[i]);
		}
		done += batch;
	}
	return 0;
}

/* What a scope has counted since it was made: sums only grow; on one CPU, or, if @cpu is -1, on all. */
static struct event_reading scope_reading(const struct bperf_scopes *scopes, int event, int row,
					  int cpu)
{
	struct counts_values sum = cpu < 0 ? bperf_scopes__total(scopes, event, row) :
					     bperf_scopes__on_cpu(scopes, event, row, cpu);

	return (struct event_reading){
		.counter = sum.val,
		.enabled_ns = sum.ena,
		.running_ns = sum.run,
	};
}

static int read_scopes(struct bperf_scopes *scopes)
{
	int err = bperf_scopes__read(scopes);

	if (err)
		pr_err("reading the shared counts failed: %s", strerror(-err));
	return err;
}

/* One event in all rows of tasks; @is_first: they have counted nothing yet. */
static void take_rows(struct bperf *bperf, struct evsel *evsel, bool is_first)
{
	const struct bperf_evsel *priv = evsel->priv;
	const struct counts *counts = evsel->counts;

	for (int c = 0; c < counts->nr_cpus; c++) {
		int cpu = bperf->base.plan->by_cpu ? evsel->cpus->cpu[c] : -1;

		for (int row = 0; row < bperf->tasks->nr_rows; row++) {
			struct event_reading now = {};

			if (!is_first)
				now = scope_reading(bperf->tasks, priv->event, row, cpu);
			take(evsel, c * counts->nr_threads + row, &now);
		}
	}
}

static void take_tasks(struct bperf *bperf, bool is_first)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		if (bperf__is_counting(bperf, evsel))
			take_rows(bperf, evsel, is_first);
	}
}

void bperf__begin_at_zero(struct bperf *bperf)
{
	take_tasks(bperf, true);
	settle(bperf);
}

/* One that came or went since the last look has no row, or none any more. */
static bool is_vacant(const struct evsel *evsel)
{
	return evsel->cgroup->state == CGROUP_NEW || evsel->cgroup->state == CGROUP_FREE;
}

static void take_cgroups(struct bperf *bperf)
{
	const struct bperf_scopes *scopes = bperf_cgroups__scopes(bperf->cgroups);
	struct evsel *evsel;
	int i;

	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		const struct bperf_evsel *priv = evsel->priv;

		if (!bperf__is_counting(bperf, evsel) || !evsel->cgroup || is_vacant(evsel))
			continue;
		for (int c = 0; c < evsel->cpus->nr; c++) {
			struct event_reading now = scope_reading(scopes, priv->event,
								 evsel->cgroup->pos,
								 evsel->cpus->cpu[c]);

			take(evsel, c, &now);
		}
	}
}

/* Of executions: they count from when the pairs were made, so this never goes back either. */
static struct event_reading runs_reading(const struct bperf *bperf, const struct evsel *evsel,
					 int target, int cpu)
{
	uint64_t now_ns = clock_ns();

	return (struct event_reading){
		.counter = bperf_progs__runs(bperf->progs, target, cpu, evsel->runs == RUNS_EXACT),
		.enabled_ns = now_ns,
		.running_ns = now_ns,
	};
}

static void take_progs(struct bperf *bperf)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(bperf->base.plan->evlist, evsel, i) {
		const struct bperf_evsel *priv = evsel->priv;

		if (!bperf__is_counting(bperf, evsel))
			continue;
		for (int c = 0; c < evsel->cpus->nr; c++) {
			int cpu = evsel->cpus->cpu[c];

			for (int t = 0; t < evsel->threads->nr; t++) {
				struct event_reading now =
					evsel->runs ? runs_reading(bperf, evsel, t, cpu) :
						      bperf_progs__event(bperf->progs, t, cpu,
									 priv->event);

				take(evsel, c * evsel->threads->nr + t, &now);
			}
		}
	}
}

int bperf__take(struct bperf *bperf)
{
	int err = 0;

	if (bperf->progs) {
		bperf_progs__read(bperf->progs);
		take_progs(bperf);
	}
	if (bperf->tasks) {
		err = read_scopes(bperf->tasks);
		if (!err)
			take_tasks(bperf, false);
	}
	for (int i = 0; bperf->cpus && i < bperf->cpus->nr && !err; i++)
		err = sync_cpu(bperf, bperf->cpus->cpu[i]);
	if (!err && bperf->cgroups) {
		err = read_scopes(bperf_cgroups__scopes(bperf->cgroups));
		if (!err)
			take_cgroups(bperf);
	}
	if (!err)
		settle(bperf);
	return err;
}

void bperf__begin_anew(struct bperf *bperf, struct evsel *evsel)
{
	struct bperf_evsel *priv = evsel->priv;

	priv->is_wanted = priv->is_open = bperf->is_enabled;
	for (int c = 0; c < evsel->cpus->nr; c++) {
		priv->cell[c] = (struct bperf_cpu){ .has_base = priv->is_wanted };
		evsel->counts->values[c] = (struct counts_values){};
	}
}

// SPDX-License-Identifier: GPL-2.0
/* Count shared events in BPF programs, in a row for each. */
#include "util/bperf/attr_map.h"
#include "util/counter/bperf_internal.h"
#include "util/counter/bperf_open.h"
#include "util/counter/bperf_progs.h"
#include "util/counter/bperf_read.h"
#include "util/event/evlist.h"
#include "util/host/cpumap.h"
#include "util/lib/util.h"
#include "util/target/thread_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct prog_counter {
	struct bpf_counter base;
	struct bperf_progs *progs;
};

static struct bperf_progs *progs_of(struct bpf_counter *base)
{
	return ((struct prog_counter *)base)->progs;
}

static bool prog__counts(const struct evsel *evsel)
{
	return evsel->in_progs;
}

static struct bpf_counter *prog__new(struct bperf *bperf)
{
	struct prog_counter *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->base = (struct bpf_counter){&bpf_program_profiler_ops, bperf};
	return &self->base;
}

/* Loading and attaching probes takes long: they take the attr map's lock for their commits only. */
static int prog__open(struct bpf_counter *base)
{
	struct prog_counter *self = (struct prog_counter *)base;
	const struct evsel *evsels[MAX_EVENTS];
	const char *names[MAX_EVENTS];
	int slots[MAX_EVENTS];
	int nr = bpf_counter__collect_slots(base, slots, evsels);

	for (int i = 0; i < nr; i++)
		names[i] = evsels[i]->name;
	return bperf_progs__new(base->bperf->leader, base->bperf->base.plan->progs, slots, names,
				nr, &self->progs);
}

/* --- reading --- */

/* Executions count from when the pairs were made, so the reading only grows. */
static struct counts_values executions(const struct bperf_progs *progs, const struct evsel *evsel,
				       int target, int cpu)
{
	uint64_t now_ns = clock_ns();

	return (struct counts_values){
		.value = bperf_progs__runs(progs, target, cpu, evsel->runs == RUNS_EXACT),
		.enabled_ns = now_ns,
		.running_ns = now_ns,
	};
}

/* Rows of new programs may have no cells yet, for want of memory. */
static void read_evsel(const struct bperf_progs *progs, struct evsel *evsel)
{
	const struct bperf_evsel *priv = evsel->priv;

	for (int c = 0; c < evsel->cpus->nr; c++) {
		int cpu = evsel->cpus->cpu[c];

		for (int t = 0; t < evsel->counts->nr_threads; t++) {
			struct counts_values now;

			if (!bperf_progs__is_counted(progs, t))
				continue;
			now = evsel->runs ? executions(progs, evsel, t, cpu) :
					    bperf_progs__event(progs, t, cpu, priv->event);
			bperf_evsel__account(evsel, c * evsel->counts->nr_threads + t, &now, 0);
		}
	}
}

static void prog__read(struct bpf_counter *base)
{
	struct bperf_progs *progs = progs_of(base);
	struct evsel *evsel;
	int i;

	bperf_progs__read(progs);
	evlist__for_each(base->bperf->base.plan->evlist, evsel, i) {
		if (bpf_counter__has(base, evsel))
			read_evsel(progs, evsel);
	}
}

/* Warnings about executions cover the time while any event counts. */
static void prog__set_enabled(struct bpf_counter *base, bool is_enabled)
{
	struct bperf_progs *progs = progs_of(base);

	bperf_progs__read(progs);
	if (is_enabled)
		bperf_progs__begin(progs);
	else
		bperf_progs__end(progs);
}

/* --- programs that come and go --- */

/* The cells of one event, in rows of another length. */
static int widen_evsel(struct evsel *evsel)
{
	int nr_old = evsel->counts->nr_threads, nr = evsel->threads->nr, err;
	struct bperf_evsel *old = evsel->priv, *wide;

	if (nr == nr_old)
		return 0;
	wide = calloc(1, sizeof(*wide) + evsel->counts->nr_cpus * nr * sizeof(wide->cell[0]));
	err = wide ? counts__widen(&evsel->counts, nr) : -ENOMEM;
	if (err) {
		free(wide);
		return err;
	}
	memcpy(wide, old, sizeof(*wide));
	for (int c = 0; c < evsel->counts->nr_cpus; c++)
		memcpy(&wide->cell[c * nr], &old->cell[c * nr_old], nr_old * sizeof(wide->cell[0]));
	free(old);
	evsel->priv = wide;
	return 0;
}

/* Make room for the rows of new programs. */
static int widen(struct bpf_counter *base)
{
	struct evsel *evsel;
	int i, err = 0;

	evlist__for_each(base->bperf->base.plan->evlist, evsel, i) {
		if (!err && bpf_counter__has(base, evsel))
			err = widen_evsel(evsel);
	}
	return err;
}

/* The counts of a program stay; its row may be another's from now on. */
static void end_row(struct bpf_counter *base, int row)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(base->bperf->base.plan->evlist, evsel, i) {
		struct bperf_evsel *priv = evsel->priv;

		for (int c = 0; bpf_counter__has(base, evsel) && c < evsel->cpus->nr; c++)
			window__forget(&priv->cell[c * evsel->counts->nr_threads + row]);
	}
}

/* Read the last counts of idle programs before their pairs go. */
static int give_up_idle(struct bpf_counter *base)
{
	struct bperf_progs *progs = progs_of(base);
	struct bperf *bperf = base->bperf;
	int t, err = 0;

	while (!err && (t = bperf_progs__find_idle(progs)) >= 0) {
		if (bperf->is_enabled)
			bperf__account(bperf);
		err = bperf_progs__give_up(progs, t, bperf->is_enabled);
		if (!err)
			end_row(base, t);
	}
	return err;
}

static int prog__follow_progs(struct bpf_counter *base)
{
	struct bperf *bperf = base->bperf;
	int nr, err = widen(base);

	if (err)
		return err;
	attr_map__never_wait(bperf->attr_map);
	nr = bperf_progs__follow(progs_of(base), bperf->is_enabled);
	/* The windows of the new programs begin. */
	if (nr && bperf->is_enabled)
		bperf__account(bperf);
	return nr < 0 ? nr : give_up_idle(base);
}

/* --- the end --- */

static void prog__report(struct bpf_counter *base)
{
	if (progs_of(base))
		bperf_progs__report(progs_of(base));
}

static void prog__leave(struct bpf_counter *base)
{
	bperf_progs__leave(progs_of(base));
}

static void prog__delete(struct bpf_counter *base)
{
	bperf_progs__delete(progs_of(base));
	free(base);
}

const struct bpf_counter_ops bpf_program_profiler_ops = {
	.is_only_shared = true,
	.counts = prog__counts,
	.new = prog__new,
	.open = prog__open,
	.read = prog__read,
	.set_enabled = prog__set_enabled,
	.follow_progs = prog__follow_progs,
	.report = prog__report,
	.leave = prog__leave,
	.delete = prog__delete,
};

// SPDX-License-Identifier: GPL-2.0
/* Count shared events on whole CPUs. */
#include "util/bperf/leader.h"
#include "util/bperf/leader_events.h"
#include "util/bperf/leader_sync.h"
#include "util/counter/bperf_internal.h"
#include "util/counter/bperf_read.h"
#include "util/event/evlist.h"
#include "util/host/cpumap.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdlib.h>

/* The time that a CPU was back without living events. */
struct cpu_gap {
	uint64_t last_ns; /* as of the last read */
	uint64_t sum_ns;  /* in the session's windows */
};

struct cpu_counter {
	struct bpf_counter base;
	struct cpumap *cpus;	/* all CPUs of all events */
	struct cpu_gap *gaps;	/* of each of these */
	bool was_enabled;	/* at the last read */
	struct evsel **sharing; /* work space: the events of one CPU */
};

static bool cpu__counts(const struct evsel *evsel)
{
	return !evsel->threads && !evsel->cgroup;
}

static struct bpf_counter *cpu__new(struct bperf *bperf)
{
	struct cpu_counter *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->base = (struct bpf_counter){&bperf_cpu_ops, bperf};
	return &self->base;
}

static bool is_used(const struct bpf_counter *base, int cpu)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(base->bperf->base.plan->evlist, evsel, i) {
		if (bpf_counter__has(base, evsel) && cpumap__has(evsel->cpus, cpu))
			return true;
	}
	return false;
}

/* CPUs that could be added, or were added late, are as those that are offline. */
static void leave_out_rest(const struct bpf_counter *base, int nr_cpus)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(base->bperf->base.plan->evlist, evsel, i) {
		for (int c = 0; bpf_counter__has(base, evsel) && c < evsel->cpus->nr; c++)
			evsel->counts->offline[c] = evsel->cpus->cpu[c] >= nr_cpus;
	}
}

static int cpu__open(struct bpf_counter *base)
{
	struct cpu_counter *self = (struct cpu_counter *)base;
	int nr_cpus = bperf_leader__nr_cpus(base->bperf->leader), nr = 0;
	int *list = calloc(nr_cpus, sizeof(*list));

	for (int cpu = 0; list && cpu < nr_cpus; cpu++) {
		if (is_used(base, cpu))
			list[nr++] = cpu;
	}
	leave_out_rest(base, nr_cpus);
	self->cpus = list ? cpumap__new(list, nr) : NULL;
	self->gaps = self->cpus ? calloc(self->cpus->nr, sizeof(*self->gaps)) : NULL;
	self->sharing = calloc(base->bperf->base.plan->evlist->nr, sizeof(*self->sharing));
	free(list);
	return self->cpus && self->gaps && self->sharing ? 0 : -ENOMEM;
}

/* Collect the events of one CPU in self->sharing. Return: how many. */
static int collect_sharing(struct cpu_counter *self, int cpu, uint64_t mask[MASK_WORDS])
{
	struct evsel *evsel;
	int nr = 0, i;

	evlist__for_each(self->base.bperf->base.plan->evlist, evsel, i) {
		const struct bperf_evsel *priv = evsel->priv;

		if (!bpf_counter__has(&self->base, evsel) || !cpumap__has(evsel->cpus, cpu))
			continue;
		mask[priv->slot / 64] |= 1ULL << priv->slot % 64;
		self->sharing[nr++] = evsel;
	}
	return nr;
}

static void read_cpu(struct cpu_counter *self, int cpu)
{
	struct bperf_leader *leader = self->base.bperf->leader;
	struct event_reading readings[MAX_EVENTS];
	uint64_t mask[MASK_WORDS] = {};
	int slots[MAX_EVENTS], i;
	int nr = collect_sharing(self, cpu, mask);
	int err = leader_sync__cpu(leader, cpu, mask);
	/* The counts of an offline CPU were read when it went. */
	bool is_offline = err == -ENXIO;

	if (err && !is_offline) {
		for (i = 0; i < nr; i++)
			bperf_evsel__count_error(self->sharing[i]->priv, -err);
		return;
	}
	/* Events given twice share a slot, so there can be more events than slots: in batches. */
	for (int done = 0; done < nr;) {
		int batch = nr - done < MAX_EVENTS ? nr - done : MAX_EVENTS;

		for (i = 0; i < batch; i++)
			slots[i] = ((struct bperf_evsel *)self->sharing[done + i]->priv)->slot;
		leader_sync__readings(leader, cpu, slots, batch, readings);
		for (i = 0; i < batch; i++) {
			struct evsel *evsel = self->sharing[done + i];
			int cpu_idx = cpumap__idx(evsel->cpus, cpu);
			const struct event_reading *now = &readings[i];
			const struct counts_values values = {now->counter, now->enabled_ns,
							     now->running_ns};

			evsel->counts->offline[cpu_idx] = is_offline;
			bperf_evsel__account(evsel, cpu_idx, &values, now->err);
		}
		done += batch;
	}
}

/* A window that ends now was still open until now. */
static void note_gap(struct cpu_counter *self, int i)
{
	uint64_t now_ns = leader_events__gap_ns(self->base.bperf->leader, self->cpus->cpu[i]);
	struct cpu_gap *gap = &self->gaps[i];

	if (self->was_enabled && now_ns > gap->last_ns)
		gap->sum_ns += now_ns - gap->last_ns;
	gap->last_ns = now_ns;
}

static void cpu__read(struct bpf_counter *base)
{
	struct cpu_counter *self = (struct cpu_counter *)base;

	for (int i = 0; i < self->cpus->nr; i++) {
		read_cpu(self, self->cpus->cpu[i]);
		note_gap(self, i);
	}
	self->was_enabled = base->bperf->is_enabled;
}

static void cpu__report(struct bpf_counter *base)
{
	const struct cpu_counter *self = (const struct cpu_counter *)base;
	int nr_cpus = self->cpus ? self->cpus->nr : 0, nr = 0;
	int *list __cleanup(free_ptr) = calloc(nr_cpus + 1, sizeof(*list));
	char *text __cleanup(free_ptr) = NULL;
	struct cpumap *cpus;
	uint64_t most_ns = 0;

	for (int i = 0; list && self->gaps && i < nr_cpus; i++) {
		if (!self->gaps[i].sum_ns)
			continue;
		list[nr++] = self->cpus->cpu[i];
		if (self->gaps[i].sum_ns > most_ns)
			most_ns = self->gaps[i].sum_ns;
	}
	if (!nr)
		return;
	cpus = cpumap__new(list, nr);
	text = cpus ? cpumap__str(cpus) : NULL;
	pr_warn("CPUs came online (%s), and up to %.3f ms on each were not counted: counts are short",
		text ? text : "?", (double)most_ns / NSEC_PER_MSEC);
	cpumap__delete(cpus);
}

static void cpu__delete(struct bpf_counter *base)
{
	struct cpu_counter *self = (struct cpu_counter *)base;

	cpumap__delete(self->cpus);
	free(self->gaps);
	free(self->sharing);
	free(self);
}

const struct bpf_counter_ops bperf_cpu_ops = {
	.counts_whole_cpus = true,
	.counts = cpu__counts,
	.new = cpu__new,
	.open = cpu__open,
	.read = cpu__read,
	.report = cpu__report,
	.delete = cpu__delete,
};

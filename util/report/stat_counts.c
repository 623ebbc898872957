// SPDX-License-Identifier: GPL-2.0
#include "util/event/counts.h"
#include "util/event/evlist.h"
#include "util/host/cpumap.h"
#include "util/lib/array.h"
#include "util/lib/msg.h"
#include "util/lib/printable.h"
#include "util/lib/util.h"
#include "util/report/aggr.h"
#include "util/report/stat_counts.h"
#include "util/target/cgroup_list.h"
#include "util/target/thread_map.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Return: true for gauges and constants, whose differences have no meaning. */
static bool is_gauge(const struct evsel *evsel)
{
	return evsel->snapshot || (evsel->tool > TOOL_SYSTEM_TIME && evsel->tool < NR_TOOL_EVENTS);
}

static bool has_percore(const struct evlist *evlist)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(evlist, evsel, i) {
		if (evsel->percore)
			return true;
	}
	return false;
}

static bool is_merged(const struct stat_config *config, const struct evsel *evsel)
{
	return evsel->auto_merge && evsel->merge_leader && !config->options.no_merge &&
	       config->options.aggr_mode != AGGR_NONE;
}

/* Extend to the current evlist, which grows as cgroups appear. Return: 0 or -ENOMEM. */
static int add_events(struct stat_counts *sc)
{
	const struct evlist *evlist = sc->evlist;

	while (sc->nr_events < evlist->nr) {
		const struct evsel *evsel = evlist->evsels[sc->nr_events];
		struct event_counts *event = array__add(sc->events, sc->nr_events);

		if (!event)
			return -ENOMEM;
		event->aggr = evsel->percore && sc->core_aggr ? sc->core_aggr : sc->aggr;
		event->merged = is_merged(sc->config, evsel);
		event->rows = calloc(event->aggr->nr_rows ? event->aggr->nr_rows : 1,
				     sizeof(*event->rows));
		if (!event->rows) {
			sc->nr_events--;
			return -ENOMEM;
		}
	}
	return 0;
}

/* Add rows for new BPF programs. */
static int grow_rows(struct stat_counts *sc)
{
	int nr = sc->aggr->nr_rows, err = aggr__update(sc->aggr, sc->evlist);

	for (int i = 0; i < sc->nr_events && !err && nr < sc->aggr->nr_rows; i++) {
		struct event_counts *event = &sc->events[i];
		struct aggr_count *rows = realloc(event->rows, sc->aggr->nr_rows * sizeof(*rows));

		if (!rows)
			return -ENOMEM;
		event->rows = rows;
	}
	return err;
}

struct stat_counts *stat_counts__new(const struct stat_config *config, const struct evlist *evlist)
{
	struct stat_counts *sc = calloc(1, sizeof(*sc));

	if (!sc)
		return NULL;
	sc->config = config;
	sc->evlist = evlist;
	sc->aggr = aggr__new(config->options.aggr_mode, config->options.cache_level,
			     config->env.topology, evlist);
	if (!sc->aggr)
		goto err;
	if (sc->aggr->mode == AGGR_NONE && has_percore(evlist)) {
		sc->core_aggr = aggr__new(AGGR_CORE, 0, config->env.topology, evlist);
		if (!sc->core_aggr)
			goto err;
	}
	if (add_events(sc))
		goto err;
	return sc;
err:
	stat_counts__delete(sc);
	errno = ENOMEM;
	return NULL;
}

void stat_counts__delete(struct stat_counts *sc)
{
	int i;

	if (!sc)
		return;
	for (i = 0; i < sc->nr_events; i++) {
		free(sc->events[i].rows);
		free(sc->events[i].prev);
	}
	free(sc->events);
	aggr__delete(sc->core_aggr);
	aggr__delete(sc->aggr);
	free(sc);
}

static uint64_t scale(const struct counts_values *v, bool no_scale)
{
	return no_scale ? v->value : counts_values__scaled(v);
}

/*
 * Return: the difference to the previous interval. A counter that went backwards could not be read: its
 * difference is 0, and *prev stays, so the next good reading includes the missing part.
 */
static struct counts_values difference(struct counts_values now, struct counts_values *prev,
				       bool is_tool)
{
	struct counts_values d = {0};

	if (now.enabled_ns < prev->enabled_ns || now.running_ns < prev->running_ns)
		return d;
	d = counts_values__since(&now, prev);
	if (now.value < prev->value)
		d.value = 0;
	if (is_tool) {
		d.enabled_ns = now.enabled_ns;
		d.running_ns = now.running_ns;
	}
	*prev = now;
	return d;
}

/* Return: true if an earlier CPU of the same package and die has already counted the same. */
static bool is_duplicate(const struct aggr *aggr, const struct evsel *evsel, int cpu_idx)
{
	const struct cpu_topology *place = aggr__topology(aggr, evsel->cpus->cpu[cpu_idx]), *other;
	const struct counts_values *v;
	int i;

	for (i = 0; place && i < cpu_idx; i++) {
		other = aggr__topology(aggr, evsel->cpus->cpu[i]);
		if (!other || other->socket != place->socket || other->die != place->die)
			continue;
		v = counts__at(evsel->counts, i, 0);
		if (v->enabled_ns && v->running_ns)
			return true;
	}
	return false;
}

static void add_counter(struct event_counts *event, struct aggr_count *row,
			const struct counts_values *v, bool no_scale)
{
	struct counts_values scaled = *v;

	scaled.value = scale(v, no_scale);
	counts_values__add(&row->sum, &scaled);
	row->nr++;
	row->failed |= v->enabled_ns ? !v->running_ns : !event->by_cpu;
	event->is_enabled |= v->enabled_ns != 0;
}

static bool is_by_thread(const struct event_counts *event)
{
	return event->aggr->mode == AGGR_THREAD || event->aggr->mode == AGGR_PROG;
}

/* Return: true for a BPF program that is not counted at all, or has ended before this interval. */
static bool is_no_row(const struct evsel *evsel, int thread, bool is_idle)
{
	return evsel->in_progs && (evsel->threads->thread[thread].is_left_out ||
				   (evsel->threads->thread[thread].is_over && is_idle));
}

/* For events that could not be opened, the rows still have the number of their CPUs. */
static void collect_unsupported(struct event_counts *event, const struct evsel *evsel)
{
	int nr_threads = is_by_thread(event) ? event->aggr->nr_rows : 1;
	int cpu, thread, row;

	for (cpu = 0; evsel->cpus && cpu < evsel->cpus->nr; cpu++) {
		for (thread = 0; thread < nr_threads; thread++) {
			row = aggr__row(event->aggr, evsel->cpus->cpu[cpu], thread);
			if (row >= 0 && !is_no_row(evsel, thread, false))
				event->rows[row].nr++;
		}
	}
	if (!evsel->cpus && event->aggr->nr_rows)
		event->rows[event->aggr->primary].nr++;
}

static void collect_kernel(struct event_counts *event, const struct evsel *evsel, bool delta,
			   bool no_scale)
{
	struct counts *counts = evsel->counts;
	struct counts_values v;
	int cpu, thread, row;

	for (cpu = 0; cpu < counts->nr_cpus; cpu++) {
		if (evsel->per_pkg && is_duplicate(event->aggr, evsel, cpu))
			continue;
		for (thread = 0; thread < counts->nr_threads; thread++) {
			v = *counts__at(counts, cpu, thread);
			if (delta)
				v = difference(v, counts__at(event->prev, cpu, thread), false);
			if (is_no_row(evsel, thread, delta && !v.enabled_ns))
				continue;
			/* An offline CPU is no counter that failed. */
			if (counts->offline[cpu] && !v.enabled_ns)
				continue;
			row = aggr__row(event->aggr, evsel->cpus->cpu[cpu], thread);
			if (row >= 0)
				add_counter(event, &event->rows[row], &v, no_scale);
		}
	}
}

/*
 * Times and constants of tool events have the same value in every place, so one row gets them once. User
 * and system times belong to CPUs or tasks, and add up.
 */
static void collect_tool(struct event_counts *event, const struct evsel *evsel, bool delta)
{
	bool adds_up = evsel->tool == TOOL_USER_TIME || evsel->tool == TOOL_SYSTEM_TIME;
	struct counts *counts = evsel->counts;
	struct aggr_count *primary = &event->rows[event->aggr->primary], *row;
	struct counts_values v;
	int cpu, thread, at;

	for (cpu = 0; cpu < counts->nr_cpus; cpu++) {
		for (thread = 0; thread < counts->nr_threads; thread++) {
			v = *counts__at(counts, cpu, thread);
			if (delta)
				v = difference(v, counts__at(event->prev, cpu, thread), true);
			at = adds_up ? aggr__row(event->aggr, evsel->cpus->cpu[cpu], thread) : -1;
			row = at < 0 ? primary : &event->rows[at];
			if (!v.enabled_ns || (row->sum.enabled_ns && !adds_up))
				continue;
			row->sum.value += v.value;
			row->sum.enabled_ns = row->sum.running_ns = 1;
			row->nr++;
		}
	}
	primary->nr += !primary->nr;
}

/*
 * Prepare the table of previous readings. It starts with zeros, also in new columns, and starts again if
 * the counters belong to another cgroup.
 */
static int prepare_prev(struct event_counts *event, const struct counts *counts, uint64_t cgroup)
{
	if (event->prev && event->prev->nr_cpus == counts->nr_cpus &&
	    event->prev->nr_threads == counts->nr_threads && event->cgroup == cgroup)
		return 0;
	/* New BPF programs add columns. */
	if (event->prev && event->prev->nr_cpus == counts->nr_cpus &&
	    event->prev->nr_threads < counts->nr_threads && event->cgroup == cgroup)
		return counts__widen(&event->prev, counts->nr_threads);
	event->cgroup = cgroup;
	free(event->prev);
	event->prev = counts__new(counts->nr_cpus, counts->nr_threads);
	return event->prev ? 0 : -ENOMEM;
}

static int collect_event(struct event_counts *event, const struct evsel *evsel, bool delta,
			 bool no_scale)
{
	int i, err;

	memset(event->rows, 0, event->aggr->nr_rows * sizeof(*event->rows));
	event->nr_sources = 1;
	event->by_cpu = (evsel->threads || evsel->cgroup) && evsel->cpus && evsel->cpus->nr &&
			evsel->cpus->cpu[0] >= 0 && !evsel->needs_cpu && !evsel->tool;
	event->is_enabled = false;
	event->supported = evsel->state != EVSEL_NOT_SUPPORTED && evsel->state != EVSEL_SKIPPED;
	delta = delta && !is_gauge(evsel);
	if (!event->aggr->nr_rows || (evsel->cgroup && !cgroup__is_counted(evsel->cgroup)))
		return 0;
	if (!event->supported || !evsel->counts || !evsel->cpus) {
		collect_unsupported(event, evsel);
		return 0;
	}
	if (delta) {
		err = prepare_prev(event, evsel->counts, evsel->cgroup ? evsel->cgroup->id : 0);
		if (err)
			return err;
	}
	if (evsel->tool)
		collect_tool(event, evsel, delta);
	else
		collect_kernel(event, evsel, delta, no_scale);
	for (i = 0; i < event->aggr->nr_rows; i++)
		event->rows[i].mean = event->rows[i].sum.value;
	return 0;
}

/* Add a PMU instance to its leader. Instances that the kernel refused do not hide the others. */
static void merge_event(struct event_counts *leader, const struct event_counts *event)
{
	struct aggr_count *to;
	const struct aggr_count *from;
	int i;

	if (leader->supported && !event->supported)
		return;
	if (!leader->supported && event->supported) {
		memset(leader->rows, 0, leader->aggr->nr_rows * sizeof(*leader->rows));
		leader->nr_sources = 0;
		leader->supported = true;
	}
	leader->nr_sources++;
	leader->is_enabled |= event->is_enabled;
	for (i = 0; i < leader->aggr->nr_rows; i++) {
		to = &leader->rows[i];
		from = &event->rows[i];
		counts_values__add(&to->sum, &from->sum);
		to->nr += from->nr;
		to->failed |= from->failed;
		to->mean = to->sum.value;
	}
}

int stat_counts__collect(struct stat_counts *sc, bool delta)
{
	const struct evlist *evlist = sc->evlist;
	int i, err = grow_rows(sc);

	if (!err)
		err = add_events(sc);
	if (err)
		return err;
	for (i = 0; i < sc->nr_events; i++) {
		err = collect_event(&sc->events[i], evlist->evsels[i], delta,
				    sc->config->options.no_scale);
		if (err)
			return err;
	}
	for (i = 0; i < sc->nr_events; i++) {
		if (sc->events[i].merged)
			merge_event(&sc->events[evlist->evsels[i]->merge_leader->idx],
				    &sc->events[i]);
	}
	return 0;
}

/* Print to stderr with CSV and JSON, whose output has only rows. */
static void dump_line(const struct stat_config *config, const char *name, int cpu,
		      const struct counts_values *v)
{
	char cpu_text[16] = "";

	if (cpu != INT32_MIN)
		snprintf(cpu_text, sizeof(cpu_text), "%d: ", cpu);
	if (config->options.csv_sep || config->options.json) {
		pr_text("%s: %s%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", name, cpu_text, v->value,
			v->enabled_ns, v->running_ns);
		return;
	}
	printable__put(config->env.output, 0, name);
	fprintf(config->env.output, ": %s%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", cpu_text, v->value,
		v->enabled_ns, v->running_ns);
}

void stat_counts__dump(const struct stat_counts *sc)
{
	struct evsel *evsel;
	int i, j, k;

	evlist__for_each(sc->evlist, evsel, i) {
		if (!sc->events[i].supported)
			continue;
		for (j = 0; sc->config->options.verbose > 1 && evsel->counts &&
			    !evsel->cpus_as_one && j < evsel->counts->nr_cpus;
		     j++) {
			for (k = 0; k < evsel->counts->nr_threads; k++)
				dump_line(sc->config, evsel->name, evsel->cpus->cpu[j],
					  counts__at(evsel->counts, j, k));
		}
		/* Only AGGR_GLOBAL has a single sum. */
		if (sc->events[i].aggr->mode == AGGR_GLOBAL)
			dump_line(sc->config, evsel->name, INT32_MIN, &sc->events[i].rows[0].sum);
	}
}

bool stat_counts__is_counted(const struct event_counts *event, const struct aggr_count *count)
{
	if (!event->supported)
		return false;
	/* Zero on a CPU is a valid count if the task or program ran on another CPU. */
	if (event->by_cpu)
		return event->is_enabled && !count->failed;
	return count->sum.enabled_ns && count->sum.running_ns &&
	       (event->aggr->mode == AGGR_GLOBAL || !count->failed);
}

const struct aggr_count *stat_counts__find(const struct stat_counts *sc, const struct evsel *evsel,
					   const struct aggr *aggr, int row)
{
	const struct event_counts *event = &sc->events[evsel->idx];
	const struct aggr_count *count;

	if (event->merged)
		event = &sc->events[evsel->merge_leader->idx];
	if (evsel->tool)
		row = event->aggr == aggr && event->rows[row].sum.enabled_ns ? row :
									       event->aggr->primary;
	else if (event->aggr != aggr)
		return NULL;
	count = &event->rows[row];
	return stat_counts__is_counted(event, count) ? count : NULL;
}

// SPDX-License-Identifier: GPL-2.0
#include "stat_counts.h"
#include "aggr.h"
#include "cgroup.h"
#include "counts.h"
#include "cpumap.h"
#include "evlist.h"
#include "msg.h"
#include "util.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Gauges and constants are shown as they are; differences of them mean nothing. */
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
	return evsel->auto_merge && evsel->merge_leader && !config->no_merge &&
	       config->aggr_mode != AGGR_NONE;
}

/* Of all events that the list has by now: cgroups come. 0 or -ENOMEM. */
static int add_events(struct stat_counts *sc)
{
	const struct evlist *evlist = sc->evlist;
	struct event_counts *events = realloc(sc->events, (evlist->nr + 1) * sizeof(*events));

	if (!events)
		return -ENOMEM;
	sc->events = events;
	for (int i = sc->nr_events; i < evlist->nr; i++) {
		struct event_counts *event = &events[i];

		memset(event, 0, sizeof(*event));
		event->aggr = evlist->evsels[i]->percore && sc->core_aggr ? sc->core_aggr : sc->aggr;
		event->merged = is_merged(sc->config, evlist->evsels[i]);
		event->rows = calloc(event->aggr->nr_rows ? event->aggr->nr_rows : 1,
				     sizeof(*event->rows));
		if (!event->rows)
			return -ENOMEM;
		sc->nr_events++;
	}
	return 0;
}

struct stat_counts *stat_counts__new(const struct stat_config *config, const struct evlist *evlist)
{
	struct stat_counts *sc = calloc(1, sizeof(*sc));

	if (!sc)
		return NULL;
	sc->config = config;
	sc->evlist = evlist;
	sc->aggr = aggr__new(config->aggr_mode, config->cache_level, config->topology, evlist);
	if (!sc->aggr)
		goto err;
	if (sc->aggr->mode == AGGR_NONE && has_percore(evlist)) {
		sc->core_aggr = aggr__new(AGGR_CORE, 0, config->topology, evlist);
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
	return no_scale ? v->val : counts_values__scaled(v);
}

/*
 * The difference to the previous interval. A counter that went backwards could not be read: it
 * adds nothing now, and keeps its old base so that the next good reading makes up for it.
 */
static struct counts_values difference(struct counts_values now, struct counts_values *prev,
				       bool is_tool)
{
	struct counts_values d = { 0 };

	if (now.ena < prev->ena || now.run < prev->run)
		return d;
	d.ena = is_tool ? now.ena : now.ena - prev->ena;
	d.run = is_tool ? now.run : now.run - prev->run;
	d.val = now.val > prev->val ? now.val - prev->val : 0;
	*prev = now;
	return d;
}

/* Whether an earlier CPU of the same package and die has counted the same thing already. */
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
		if (v->ena && v->run)
			return true;
	}
	return false;
}

static void add_counter(struct event_counts *event, struct aggr_count *row,
			const struct counts_values *v, bool no_scale)
{
	row->val += scale(v, no_scale);
	row->ena += v->ena;
	row->run += v->run;
	row->nr++;
	row->failed |= v->ena ? !v->run : !event->by_cpu;
	event->is_enabled |= v->ena != 0;
}

static bool is_by_thread(const struct event_counts *event)
{
	return event->aggr->mode == AGGR_THREAD || event->aggr->mode == AGGR_PROG;
}

/* Events without counts could not be opened: their rows still tell how many CPUs they are for. */
static void collect_unsupported(struct event_counts *event, const struct evsel *evsel)
{
	int nr_threads = is_by_thread(event) ? event->aggr->nr_rows : 1;
	int cpu, thread, row;

	for (cpu = 0; evsel->cpus && cpu < evsel->cpus->nr; cpu++) {
		for (thread = 0; thread < nr_threads; thread++) {
			row = aggr__row(event->aggr, evsel->cpus->cpu[cpu], thread);
			if (row >= 0)
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
			/* Nothing could be counted where there was no CPU. */
			if (counts->offline[cpu] && !v.ena)
				continue;
			row = aggr__row(event->aggr, evsel->cpus->cpu[cpu], thread);
			if (row >= 0)
				add_counter(event, &event->rows[row], &v, no_scale);
		}
	}
}

/*
 * Tool events belong to the run, not to a CPU: time and constants are the same wherever the back
 * end wrote them down. User and system time are of CPUs or tasks, and add up.
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
			if (!v.ena || (row->ena && !adds_up))
				continue;
			row->val += v.val;
			row->ena = row->run = 1;
			row->nr++;
		}
	}
	primary->nr += !primary->nr;
}

/*
 * The table of the previous readings; zeros at first, and whenever the counters changed shape or
 * belong to another cgroup.
 */
static int prepare_prev(struct event_counts *event, const struct counts *counts, uint64_t cgroup)
{
	if (event->prev && event->prev->nr_cpus == counts->nr_cpus &&
	    event->prev->nr_threads == counts->nr_threads && event->cgroup == cgroup)
		return 0;
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
	if (!event->aggr->nr_rows)
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
		event->rows[i].mean = event->rows[i].val;
	return 0;
}

/* Add an instance to its leader; one the kernel refused must not spoil those it did not. */
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
		to->val += from->val;
		to->ena += from->ena;
		to->run += from->run;
		to->nr += from->nr;
		to->failed |= from->failed;
		to->mean = to->val;
	}
}

int stat_counts__collect(struct stat_counts *sc, bool delta)
{
	const struct evlist *evlist = sc->evlist;
	int i, err = add_events(sc);

	if (err)
		return err;
	for (i = 0; i < sc->nr_events; i++) {
		err = collect_event(&sc->events[i], evlist->evsels[i], delta,
				    sc->config->no_scale);
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

/* Lines between the rows of CSV and JSON would spoil them: those formats get them on stderr. */
static void dump_line(const struct stat_config *config, const char *name, int cpu,
		      const struct counts_values *v)
{
	char cpu_text[16] = "";

	if (cpu != INT32_MIN)
		snprintf(cpu_text, sizeof(cpu_text), "%d: ", cpu);
	if (config->csv_sep || config->json)
		pr_text("%s: %s%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", name, cpu_text, v->val,
			v->ena, v->run);
	else
		fprintf(config->output, "%s: %s%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", name,
			cpu_text, v->val, v->ena, v->run);
}

void stat_counts__dump(const struct stat_counts *sc)
{
	const struct aggr_count *row;
	struct counts_values sum;
	struct evsel *evsel;
	int i, j, k;

	evlist__for_each(sc->evlist, evsel, i) {
		if (!sc->events[i].supported)
			continue;
		for (j = 0; sc->config->verbose > 1 && evsel->counts && j < evsel->counts->nr_cpus;
		     j++) {
			for (k = 0; k < evsel->counts->nr_threads; k++)
				dump_line(sc->config, evsel->name, evsel->cpus->cpu[j],
					  counts__at(evsel->counts, j, k));
		}
		/* There is one sum only where all is one row. */
		row = sc->events[i].rows;
		sum = (struct counts_values){ row->val, row->ena, row->run };
		if (sc->events[i].aggr->mode == AGGR_GLOBAL)
			dump_line(sc->config, evsel->name, INT32_MIN, &sum);
	}
}

bool stat_counts__is_counted(const struct event_counts *event, const struct aggr_count *count)
{
	if (!event->supported)
		return false;
	/* Where tasks or BPF programs have not run they counted nothing, and that is a count, if they ran at all. */
	if (event->by_cpu)
		return event->is_enabled && !count->failed;
	return count->ena && count->run && (event->aggr->mode == AGGR_GLOBAL || !count->failed);
}

const struct aggr_count *stat_counts__find(const struct stat_counts *sc, const struct evsel *evsel,
					   const struct aggr *aggr, int row)
{
	const struct event_counts *event = &sc->events[evsel->idx];
	const struct aggr_count *count;

	if (event->merged)
		event = &sc->events[evsel->merge_leader->idx];
	if (evsel->tool)
		row = event->aggr == aggr && event->rows[row].ena ? row : event->aggr->primary;
	else if (event->aggr != aggr)
		return NULL;
	count = &event->rows[row];
	return stat_counts__is_counted(event, count) ? count : NULL;
}

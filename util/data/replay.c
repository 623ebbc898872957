// SPDX-License-Identifier: GPL-2.0
#include "util/data/replay.h"

#include "util/data/record_cpus.h"
#include "util/event/counts.h"
#include "util/event/event_names.h"
#include "util/event/evlist.h"
#include "util/event/pmu.h"
#include "util/host/cpumap.h"
#include "util/lib/program.h"
#include "util/lib/util.h"
#include "util/target/thread_map.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* Limits against forged files: counters and rows of all events together, and CPU numbers. */
#define MAX_CELLS (8 << 20)
#define MAX_ROWS  (2 << 20)
/* Types from here on are events that Linux's perf computes itself: clocks, sensors. */
#define OWN_TYPES 0xffff0000u

static int bad(const struct data_replay *events, const struct data_record *record, const char *what)
{
	return data_reader__bad(events->reader, record->offset, "%s", what);
}

/* --- making the events --- */

/* Return: a name for an event of a stream that was not counted; owned. */
static char *name_of(const struct perf_event_attr *attr)
{
	const struct event_name *table = attr->type == PERF_TYPE_HARDWARE ? hw_events :
					 attr->type == PERF_TYPE_SOFTWARE ? sw_events :
									    NULL;

	for (; table && table->name; table++) {
		if (table->config == attr->config)
			return strdup(table->name);
	}
	return xasprintf("%u:0x%" PRIx64, attr->type, (uint64_t)attr->config);
}

static const struct pmu *pmu_of(const struct data_replay *events,
				const struct perf_event_attr *attr)
{
	const char *name =
		header_fields__pmu(data_reader__header_fields(events->reader), attr->type);

	if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE)
		return pmus__core(events->pmus);
	return name ? pmus__find(events->pmus, name) : NULL;
}

static int add_event(struct data_replay *events, const struct data_attr *attr, const char *given)
{
	char *name __cleanup(free_ptr) = given ? strdup(given) : name_of(&attr->attr);
	struct evsel *evsel = name ? evsel__new(&attr->attr, name) : NULL;

	if (!evsel)
		return -ENOMEM;
	evsel->pmu = pmu_of(events, &attr->attr);
	if (attr->attr.type == PMU_TYPE_TOOL && attr->attr.config <= TOOL_SYSTEM_TIME)
		evsel->tool = attr->attr.config;
	evsel->state =
		attr->nr_ids || attr->attr.type >= OWN_TYPES ? EVSEL_COUNTING : EVSEL_NOT_SUPPORTED;
	for (int i = 0; i < attr->nr_ids; i++)
		events->ids[events->nr_ids++] =
			(struct data_id){.id = attr->ids[i], .idx = events->evlist->nr};
	if (evlist__add(events->evlist, evsel)) {
		evsel__delete(evsel);
		return -ENOMEM;
	}
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = ((const struct data_id *)a)->id, y = ((const struct data_id *)b)->id;

	return x < y ? -1 : x > y;
}

static int make_events(struct data_replay *events)
{
	const struct header_fields *header = data_reader__header_fields(events->reader);
	const struct data_attr *attrs;
	uint64_t nr_ids = 0;
	int nr, err = 0;

	if (events->is_made)
		return 0;
	events->is_made = true;
	attrs = data_reader__attrs(events->reader, &nr);
	for (int i = 0; i < nr; i++)
		nr_ids += attrs[i].nr_ids;
	events->ids = malloc((nr_ids + 1) * sizeof(*events->ids));
	if (!events->ids)
		return -ENOMEM;
	for (int i = 0; i < nr && !err; i++)
		err = add_event(events, &attrs[i], i < header->nr_names ? header->names[i] : NULL);
	qsort(events->ids, events->nr_ids, sizeof(*events->ids), compare_ids);
	return err;
}

static struct evsel *event_of(const struct data_replay *events, uint64_t id)
{
	struct data_id key = {.id = id};
	const struct data_id *found =
		bsearch(&key, events->ids, events->nr_ids, sizeof(key), compare_ids);

	return found ? events->evlist->evsels[found->idx] : NULL;
}

/*
 * Linux's perf since 6.13 writes the id 0 for events that it computes itself. Their records come in the
 * order of the events. The last update of each is its name. The counts of each event start with the same
 * CPU and thread. Return: the position of the next one from @i on, cyclic; -1: none.
 */
static int own_event(const struct data_replay *events, int i)
{
	const struct evlist *list = events->evlist;

	for (int n = 0; n < list->nr; n++, i++) {
		if (list->evsels[i % list->nr]->attr.type >= OWN_TYPES)
			return i % list->nr;
	}
	return -1;
}

static struct evsel *event_of_update(struct data_replay *events, uint64_t id, uint64_t type)
{
	int own = id ? -1 : own_event(events, events->own_update);

	if (own < 0)
		return event_of(events, id);
	events->own_update = own + (type == UPDATE_NAME);
	return events->evlist->evsels[own];
}

static struct evsel *event_of_stat(struct data_replay *events, const struct data_stat *stat)
{
	const struct data_stat *first = &events->own_first;
	int own = stat->id ? -1 : own_event(events, events->own_stat);

	if (own < 0)
		return event_of(events, stat->id);
	if (events->has_own_first && stat->cpu == first->cpu && stat->thread == first->thread)
		own = own_event(events, own + 1);
	if (!events->has_own_first || own != events->own_stat)
		events->own_first = *stat;
	events->has_own_first = true;
	events->own_stat = own;
	return events->evlist->evsels[own];
}

/* --- their description --- */

static int set_text(char **text, struct byte_reader *r)
{
	const char *new = byte_reader__text(r);
	char *copy = new ? strdup(new) : NULL;

	if (!new)
		return -EINVAL;
	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

static int take_update(struct data_replay *events, struct data_record *record)
{
	struct byte_reader *r = &record->body;
	uint64_t type = byte_reader__u64(r), id = byte_reader__u64(r);
	struct evsel *evsel = event_of_update(events, id, type);
	struct cpumap *cpus;
	double scale;
	int err = 0;

	if (r->is_short || !evsel)
		return bad(events, record, "an update of no event");
	switch (type) {
	case UPDATE_UNIT:
		err = set_text((char **)&evsel->unit, r);
		break;
	case UPDATE_NAME:
		err = set_text(&evsel->name, r);
		break;
	case UPDATE_SCALE:
		byte_reader__get(r, &scale, sizeof(scale));
		if (r->is_short || !isfinite(scale))
			err = -EINVAL;
		else
			evsel->scale = scale;
		break;
	case UPDATE_CPUS:
		cpus = record_cpus__read(r);
		if (!cpus)
			return errno == ENOMEM ? -ENOMEM :
						 bad(events, record, "an event's CPUs are no CPUs");
		events->nr_cpus_said += cpus->nr;
		cpumap__delete(evsel->cpus);
		evsel->cpus = cpus;
		if (events->nr_cpus_said > MAX_CELLS)
			return bad(events, record, "more CPUs than can be");
		break;
	case UPDATE_EXTRA:
		/* Up to 7 NULs may follow the last text. */
		while (r->left > 1 && !r->at[r->left - 1] && !r->at[r->left - 2])
			r->left--;
		err = annotations__read(&events->annotations, events->evlist, events->pmus, r->at,
					r->left);
		break;
	default:
		break;
	}
	return err == -EINVAL ? bad(events, record, "an update that says nothing of use") : err;
}

static int take_threads(struct data_replay *events, struct data_record *record)
{
	struct byte_reader *r = &record->body;
	uint64_t nr = byte_reader__u64(r);
	struct thread_map *map;

	if (r->is_short || !nr || r->left / 24 < nr)
		return bad(events, record, "threads that are not in their record");
	if (events->has_threads)
		return bad(events, record, "threads for the second time");
	events->has_threads = true;
	map = calloc(1, sizeof(*map) + nr * sizeof(map->thread[0]));
	if (!map)
		return -ENOMEM;
	map->nr = nr;
	for (int i = 0; i < map->nr; i++) {
		map->thread[i].tid = byte_reader__u64(r);
		byte_reader__get(r, map->thread[i].comm, sizeof(map->thread[i].comm));
		map->thread[i].comm[sizeof(map->thread[i].comm) - 1] = '\0';
	}
	/* Counts of CPUs have one row for all tasks. */
	if (map->nr == 1 && map->thread[0].tid == -1)
		thread_map__delete(map);
	else
		events->threads = map;
	return 0;
}

static int take_config(struct data_replay *events, struct data_record *record)
{
	struct byte_reader *r = &record->body;
	struct data_config *config = &events->config;

	*config = (struct data_config){.aggr_mode = UINT64_MAX, .scale = 1};
	config->nr = byte_reader__u64(r);
	if (r->is_short || r->left / 16 < config->nr)
		return bad(events, record, "a configuration that is not in its record");
	for (uint64_t i = 0; i < config->nr; i++) {
		uint64_t tag = byte_reader__u64(r), value = byte_reader__u64(r);

		switch (tag) {
		case CONFIG_AGGR_MODE:
			config->aggr_mode = value;
			break;
		case CONFIG_INTERVAL_MS:
			config->interval_ms = value < UINT_MAX / 2 ? value : UINT_MAX / 2;
			break;
		case CONFIG_SCALE:
			config->scale = value;
			break;
		case CONFIG_CACHE_LEVEL:
			config->cache_level = value;
			break;
		default:
			break;
		}
	}
	return 0;
}

static int take_cpus(struct data_replay *events, struct data_record *record)
{
	if (events->cpus)
		return bad(events, record, "CPUs for the second time");
	events->cpus = record_cpus__read(&record->body);
	if (!events->cpus)
		return errno == ENOMEM ? -ENOMEM : bad(events, record, "CPUs that are none");
	return 0;
}

int data_replay__take(struct data_replay *events, struct data_record *record)
{
	int err = make_events(events);

	if (err)
		return err;
	switch (record->type) {
	case RECORD_THREAD_MAP:
		return take_threads(events, record);
	case RECORD_CPU_MAP:
		return take_cpus(events, record);
	case RECORD_STAT_CONFIG:
		return take_config(events, record);
	case RECORD_EVENT_UPDATE:
		return take_update(events, record);
	default:
		return 0;
	}
}

/* --- counts --- */

static void forget_cpus(struct evsel *evsel)
{
	cpumap__delete(evsel->cpus);
	evsel->cpus = NULL;
}

int data_replay__complete(struct data_replay *events)
{
	uint64_t nr_cells = 0;
	struct evsel *evsel;
	int i, err = make_events(events);

	if (err)
		return err;
	if (!events->config.nr)
		return data_reader__bad(events->reader, data_reader__offset(events->reader),
					"nothing says yet how was counted (STAT_CONFIG)");
	evlist__for_each(events->evlist, evsel, i) {
		/* Counts of tasks: perf still writes the event's possible CPUs. */
		if (events->cpus && cpumap__is_any(events->cpus))
			forget_cpus(evsel);
		if (!evsel->cpus)
			evsel->cpus = events->cpus ? cpumap__dup(events->cpus) :
						     cpumap__dup(cpumap__any());
		if (!evsel->cpus)
			return -ENOMEM;
		events->has_cpus |= !cpumap__is_any(evsel->cpus);
		evsel->threads = events->threads;
		events->has_sums |=
			evsel->threads && evsel->threads->nr > 1 && evsel->threads_as_one;
		nr_cells += (uint64_t)evsel->cpus->nr * (evsel->threads ? evsel->threads->nr : 1);
		if (nr_cells > MAX_CELLS)
			return data_reader__bad(events->reader, data_reader__offset(events->reader),
						"more counters than can be: %" PRIu64
						" of %d events",
						nr_cells, i + 1);
		if (evsel->state != EVSEL_COUNTING)
			continue;
		err = evsel__alloc_counts(evsel);
		if (err)
			return err;
		/* A CPU without counts was offline. */
		for (int cpu = 0; cpu < evsel->counts->nr_cpus; cpu++)
			evsel->counts->offline[cpu] = !cpumap__is_any(evsel->cpus);
	}
	return 0;
}

/* Return: the number of CPUs on which any event is counted. */
static int nr_different_cpus(const struct evlist *list)
{
	bool is_seen[RECORD_MAX_CPUS] = {};
	struct evsel *evsel;
	int i, nr = 0;

	evlist__for_each(list, evsel, i) {
		for (int c = 0; c < evsel->cpus->nr; c++) {
			int cpu = evsel->cpus->cpu[c];

			if (cpu >= 0 && !is_seen[cpu]) {
				is_seen[cpu] = true;
				nr++;
			}
		}
	}
	return nr;
}

int data_replay__check_rows(const struct data_replay *events, bool is_by_thread)
{
	uint64_t nr = is_by_thread ? events->threads->nr : nr_different_cpus(events->evlist);

	/* Each event may have a count in every row, also of CPUs that are not its own. */
	if (nr * events->evlist->nr <= MAX_ROWS)
		return 0;
	return data_reader__bad(events->reader, data_reader__offset(events->reader),
				"more rows than can be: %d events, %" PRIu64 " %s",
				events->evlist->nr, nr, is_by_thread ? "threads" : "CPUs");
}

int data_replay__take_stat(struct data_replay *events, struct data_record *record)
{
	struct data_stat stat;
	struct evsel *evsel;
	int cpu;

	byte_reader__get(&record->body, &stat, sizeof(stat));
	evsel = record->body.is_short ? NULL : event_of_stat(events, &stat);
	if (!evsel)
		return bad(events, record, "counts of no event");
	cpu = cpumap__idx(evsel->cpus, (int)stat.cpu);
	/* Events that perf computes may have "any CPU" in only one of the two records. */
	if (cpu < 0 && ((int)stat.cpu == -1 || cpumap__is_any(evsel->cpus)))
		cpu = 0;
	if (cpu < 0)
		return data_reader__bad(events->reader, record->offset,
					"counts of '%s' on CPU %u, where it was not counted",
					evsel->name, stat.cpu);
	if (stat.thread >= (uint32_t)evsel->counts->nr_threads)
		return data_reader__bad(events->reader, record->offset,
					"counts of '%s' of thread %u of %d", evsel->name,
					stat.thread, evsel->counts->nr_threads);
	evsel->counts->offline[cpu] = false;
	*counts__at(evsel->counts, cpu, stat.thread) = stat.count;
	return 0;
}

int data_replay__take_round(const struct data_replay *events, struct data_record *record,
			    struct data_round_end *round)
{
	struct byte_reader *r = &record->body;
	uint64_t type = byte_reader__u64(r);

	round->is_final = type == ROUND_FINAL;
	round->time_ns = byte_reader__u64(r);
	if (r->is_short || type > ROUND_FINAL)
		return bad(events, record, "a round of no known kind");
	round->user_ns = byte_reader__u64(r);
	round->sys_ns = byte_reader__u64(r);
	return 0;
}

int data_replay__cut_short(const struct data_replay *events)
{
	uint64_t offset = data_reader__offset(events->reader);

	if (!events->config.nr)
		return data_reader__bad(events->reader, offset,
					"no counts: not written by %s stat record",
					program__name());
	return data_reader__bad(
		events->reader, offset,
		"the data end before the counting did: whoever wrote them was interrupted");
}

void data_replay__clear(struct data_replay *events)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(events->evlist, evsel, i) {
		evsel->threads = NULL;
		evsel->cgroup = NULL;
	}
	thread_map__delete(events->threads);
	cpumap__delete(events->cpus);
	annotations__clear(&events->annotations);
	free(events->ids);
}

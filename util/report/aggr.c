// SPDX-License-Identifier: GPL-2.0
#include "util/event/evlist.h"
#include "util/host/cpumap.h"
#include "util/lib/util.h"
#include "util/report/aggr.h"
#include "util/target/thread_map.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct aggr_style styles[] = {
	[AGGR_NONE] = {.name = "cpu", .width = 6},
	[AGGR_GLOBAL] = {.name = NULL},
	[AGGR_SOCKET] = {.name = "socket", .width = 6, .counted = true},
	[AGGR_DIE] = {.name = "die", .width = 12, .counted = true},
	[AGGR_CLUSTER] = {.name = "cluster", .width = 20, .counted = true},
	[AGGR_CACHE] = {.name = "cache", .width = 22, .counted = true},
	[AGGR_CORE] = {.name = "core", .width = 18, .counted = true},
	[AGGR_THREAD] = {.name = "thread", .width = 24},
	[AGGR_NODE] = {.name = "node", .width = 6, .counted = true},
	[AGGR_PROG] = {.name = "program", .width = 24},
	[AGGR_PORT] = {.name = "port", .width = 12},
};

const struct aggr_style *aggr_style(enum aggr_mode mode)
{
	if (mode >= ARRAY_SIZE(styles) || !styles[mode].name)
		return &styles[AGGR_GLOBAL];
	return &styles[mode];
}

static const struct aggr_id no_id = {
	.place = {-1, -1, -1, -1, -1, -1, -1},
	.cpu = -1,
	.thread = -1,
};

/* Return: true if a row is a die or a part of one. */
static bool is_in_die(enum aggr_mode mode)
{
	return mode == AGGR_CORE || mode == AGGR_CACHE || mode == AGGR_CLUSTER || mode == AGGR_DIE;
}

static struct aggr_id id_of_cpu(const struct aggr *aggr, int cpu)
{
	const struct cpu_topology *place = &aggr->topology[cpu];
	struct aggr_id id = no_id;

	switch (aggr->mode) {
	case AGGR_NONE:
		id.cpu = cpu;
		break;
	case AGGR_NODE:
		id.place.node = place->node;
		break;
	case AGGR_CORE:
		id.place.core = place->core;
		id.place.cluster = place->cluster;
		break;
	case AGGR_CACHE:
		id.place.cache_level = place->cache_level;
		id.place.cache = place->cache;
		break;
	case AGGR_CLUSTER:
		id.place.cluster = place->cluster;
		break;
	default:
		break;
	}
	if (is_in_die(aggr->mode))
		id.place.die = place->die;
	if (is_in_die(aggr->mode) || aggr->mode == AGGR_SOCKET)
		id.place.socket = place->socket;
	return id;
}

static void name_row(struct aggr_row *row, enum aggr_mode mode)
{
	const struct cpu_topology *p = &row->id.place;

	switch (mode) {
	case AGGR_NONE:
		snprintf(row->name, sizeof(row->name), "%d", row->id.cpu);
		break;
	case AGGR_NODE:
		snprintf(row->name, sizeof(row->name), "N%d", p->node);
		break;
	case AGGR_CORE:
		snprintf(row->name, sizeof(row->name), "S%d-D%d-C%d", p->socket, p->die, p->core);
		break;
	case AGGR_CACHE:
		snprintf(row->name, sizeof(row->name), "S%d-D%d-L%d-ID%d", p->socket, p->die,
			 p->cache_level, p->cache);
		break;
	case AGGR_CLUSTER:
		snprintf(row->name, sizeof(row->name), "S%d-D%d-CLS%d", p->socket, p->die,
			 p->cluster);
		break;
	case AGGR_DIE:
		snprintf(row->name, sizeof(row->name), "S%d-D%d", p->socket, p->die);
		break;
	case AGGR_SOCKET:
		snprintf(row->name, sizeof(row->name), "S%d", p->socket);
		break;
	default:
		break;
	}
}

/* Rows are sorted by these fields, in this order. */
static const size_t sort_keys[] = {
	offsetof(struct aggr_id, place.node),
	offsetof(struct aggr_id, place.socket),
	offsetof(struct aggr_id, place.die),
	offsetof(struct aggr_id, place.cluster),
	offsetof(struct aggr_id, place.cache_level),
	offsetof(struct aggr_id, place.cache),
	offsetof(struct aggr_id, place.core),
	offsetof(struct aggr_id, cpu),
	offsetof(struct aggr_id, thread),
};

static int compare_ids(const void *a, const void *b)
{
	int x, y;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sort_keys); i++) {
		x = *(const int *)((const char *)a + sort_keys[i]);
		y = *(const int *)((const char *)b + sort_keys[i]);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

static int compare_rows(const void *a, const void *b)
{
	return compare_ids(&((const struct aggr_row *)a)->id, &((const struct aggr_row *)b)->id);
}

/* Give all CPUs of events row 0 until the topology is known. */
static int find_cpus(struct aggr *aggr, const struct evlist *evlist)
{
	struct evsel *evsel;
	int i, j, max = -1;

	evlist__for_each(evlist, evsel, i) {
		if (evsel->cpus && evsel->cpus->nr && cpumap__max(evsel->cpus) > max)
			max = cpumap__max(evsel->cpus);
	}
	if (max < 0)
		return 0;
	aggr->row_of_cpu = malloc((max + 1) * sizeof(*aggr->row_of_cpu));
	aggr->topology = calloc(max + 1, sizeof(*aggr->topology));
	if (!aggr->row_of_cpu || !aggr->topology)
		return -ENOMEM;
	aggr->nr_cpus = max + 1;
	for (i = 0; i <= max; i++)
		aggr->row_of_cpu[i] = -1;
	evlist__for_each(evlist, evsel, i) {
		for (j = 0; evsel->cpus && j < evsel->cpus->nr; j++) {
			if (evsel->cpus->cpu[j] >= 0)
				aggr->row_of_cpu[evsel->cpus->cpu[j]] = 0;
		}
	}
	return 0;
}

/*
 * Name the cores of clusters that number their own, as device trees of arm64 do; elsewhere a core's number
 * occurs once in its die.
 */
static void name_cores(struct aggr *aggr)
{
	for (int i = 0; i < aggr->nr_rows; i++) {
		const struct cpu_topology *p = &aggr->rows[i].id.place;
		bool repeats = false;

		for (int j = 0; j < aggr->nr_rows && !repeats; j++) {
			const struct cpu_topology *other = &aggr->rows[j].id.place;

			repeats = j != i && other->socket == p->socket && other->die == p->die &&
				  other->core == p->core;
		}
		if (repeats)
			snprintf(aggr->rows[i].name, sizeof(aggr->rows[i].name),
				 "S%d-D%d-CLS%d-C%d", p->socket, p->die, p->cluster, p->core);
	}
}

static int make_cpu_rows(struct aggr *aggr)
{
	struct aggr_row *row, key;
	int cpu, nr = 0, i;

	aggr->rows = calloc(aggr->nr_cpus, sizeof(*aggr->rows));
	if (!aggr->rows)
		return -ENOMEM;
	for (cpu = 0; cpu < aggr->nr_cpus; cpu++) {
		if (aggr->row_of_cpu[cpu] >= 0)
			aggr->rows[nr++].id = id_of_cpu(aggr, cpu);
	}
	qsort(aggr->rows, nr, sizeof(*aggr->rows), compare_rows);
	for (i = 0; i < nr; i++) {
		if (aggr->nr_rows && !compare_rows(&aggr->rows[aggr->nr_rows - 1], &aggr->rows[i]))
			continue;
		row = &aggr->rows[aggr->nr_rows++];
		row->id = aggr->rows[i].id;
		name_row(row, aggr->mode);
	}
	if (aggr->mode == AGGR_CORE)
		name_cores(aggr);
	for (cpu = 0; cpu < aggr->nr_cpus; cpu++) {
		if (aggr->row_of_cpu[cpu] < 0)
			continue;
		key.id = id_of_cpu(aggr, cpu);
		row = bsearch(&key, aggr->rows, aggr->nr_rows, sizeof(key), compare_rows);
		aggr->row_of_cpu[cpu] = row - aggr->rows;
	}
	if (aggr->nr_cpus && aggr->row_of_cpu[0] >= 0)
		aggr->primary = aggr->row_of_cpu[0];
	return 0;
}

/* Make all rows again: BPF programs may have been added. */
static int make_thread_rows(struct aggr *aggr, const struct thread_map *threads)
{
	struct aggr_row *row;
	int i;

	row = realloc(aggr->rows, (threads->nr ? threads->nr : 1) * sizeof(*row));
	if (!row)
		return -ENOMEM;
	aggr->rows = row;
	aggr->nr_rows = threads->nr;
	memset(row, 0, threads->nr * sizeof(*row));
	for (i = 0; i < threads->nr; i++) {
		row = &aggr->rows[i];
		row->id = no_id;
		row->id.thread = i;
		row->tid = threads->thread[i].tid;
		memcpy(row->comm, threads->thread[i].comm, sizeof(row->comm) - 1);
		snprintf(row->name, sizeof(row->name), "%s-%d",
			 threads->thread[i].name ? threads->thread[i].name : row->comm, row->tid);
	}
	return 0;
}

static int make_global_row(struct aggr *aggr)
{
	int cpu;

	aggr->mode = AGGR_GLOBAL;
	aggr->rows = calloc(1, sizeof(*aggr->rows));
	if (!aggr->rows)
		return -ENOMEM;
	aggr->nr_rows = 1;
	aggr->rows[0].id = no_id;
	for (cpu = 0; cpu < aggr->nr_cpus; cpu++) {
		if (aggr->row_of_cpu[cpu] >= 0)
			aggr->row_of_cpu[cpu] = 0;
	}
	return 0;
}

static const struct thread_map *find_threads(const struct evlist *evlist)
{
	struct evsel *evsel;
	int i;

	evlist__for_each(evlist, evsel, i) {
		if (evsel->threads)
			return evsel->threads;
	}
	return NULL;
}

/* Return: true if rows are threads, or BPF programs in place of threads. */
static bool is_by_thread(enum aggr_mode mode)
{
	return mode == AGGR_THREAD || mode == AGGR_PROG;
}

/* Reading sysfs takes long for hundreds of CPUs; skip it unless rows or events depend on it. */
static bool needs_topology(enum aggr_mode mode, const struct evlist *evlist)
{
	struct evsel *evsel;
	int i;

	if (aggr_style(mode)->counted)
		return true;
	evlist__for_each(evlist, evsel, i) {
		if (evsel->per_pkg)
			return true;
	}
	return false;
}

static void find_topology(struct aggr *aggr, const struct topology *topology, int cache_level)
{
	int cpu;

	for (cpu = 0; cpu < aggr->nr_cpus; cpu++) {
		if (aggr->row_of_cpu[cpu] < 0)
			continue;
		if (topology)
			topology__find(topology, cpu, cache_level, &aggr->topology[cpu]);
		else
			cpu_topology__read(&aggr->topology[cpu], sysfs_root(), cpu, cache_level);
	}
	if (!topology)
		cpu_topology__read_nodes(aggr->topology, aggr->nr_cpus, sysfs_root());
}

struct aggr *aggr__new(enum aggr_mode mode, int cache_level, const struct topology *topology,
		       const struct evlist *evlist)
{
	const struct thread_map *threads = is_by_thread(mode) ? find_threads(evlist) : NULL;
	struct aggr *aggr = calloc(1, sizeof(*aggr));
	int err;

	if (!aggr)
		return NULL;
	aggr->mode = mode;
	err = find_cpus(aggr, evlist);
	if (!err && needs_topology(mode, evlist))
		find_topology(aggr, topology, cache_level);
	if (err)
		;
	else if (threads)
		err = make_thread_rows(aggr, threads);
	else if (aggr->nr_cpus && aggr_style(mode)->name && !is_by_thread(mode))
		err = make_cpu_rows(aggr);
	else
		err = make_global_row(aggr);
	if (err) {
		aggr__delete(aggr);
		errno = -err;
		return NULL;
	}
	return aggr;
}

int aggr__update(struct aggr *aggr, const struct evlist *evlist)
{
	const struct thread_map *threads = aggr->mode == AGGR_PROG ? find_threads(evlist) : NULL;

	return threads && threads->nr > aggr->nr_rows ? make_thread_rows(aggr, threads) : 0;
}

void aggr__delete(struct aggr *aggr)
{
	if (!aggr)
		return;
	free(aggr->rows);
	free(aggr->row_of_cpu);
	free(aggr->topology);
	free(aggr);
}

int aggr__row(const struct aggr *aggr, int cpu, int thread)
{
	if (is_by_thread(aggr->mode))
		return thread < aggr->nr_rows ? thread : -1;
	if (aggr->mode == AGGR_GLOBAL)
		return 0;
	if (cpu < 0)
		return aggr->primary;
	return cpu < aggr->nr_cpus ? aggr->row_of_cpu[cpu] : -1;
}

const struct cpu_topology *aggr__topology(const struct aggr *aggr, int cpu)
{
	return cpu >= 0 && cpu < aggr->nr_cpus && aggr->row_of_cpu[cpu] >= 0 ?
		       &aggr->topology[cpu] :
		       NULL;
}

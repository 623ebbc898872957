// SPDX-License-Identifier: GPL-2.0
#include "util/data/record.h"

#include "util/data/header_write.h"
#include "util/data/writer.h"
#include "util/event/counts.h"
#include "util/event/evlist.h"
#include "util/host/cpumap.h"
#include "util/host/topology.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/run/sink.h"
#include "util/run/stat_run.h"
#include "util/target/thread_map.h"

#include <errno.h>
#include <string.h>

/* Start another record of texts after so many bytes. */
#define EXTRA_BYTES 32768

struct stat_record {
	struct data_writer *writer;
	int argc;
	char *const *argv;
	struct byte_buffer features[NR_FEATURES];
	uint64_t first_id; /* of the first event that is counted */
	bool has_failed;   /* after a message; nothing more is written */
};

int stat_record__new(const char *path, int argc, char *const *argv, struct stat_record **out)
{
	struct stat_record *record = calloc(1, sizeof(*record));
	int err;

	*out = NULL;
	if (!record) {
		pr_err("out of memory");
		return -ENOMEM;
	}
	record->argc = argc;
	record->argv = argv;
	err = data_writer__open(path, &record->writer);
	if (err)
		free(record);
	else
		*out = record;
	return err;
}

bool stat_record__is_stdout(const struct stat_record *record)
{
	return data_writer__is_stdout(record->writer);
}

/* Write a record and free its body, even on failure. */
static int put_record(struct stat_record *record, enum data_record_type type,
		      struct byte_buffer *body)
{
	return data_writer__put(record->writer, type, 0, body);
}

/* --- the events --- */

/* Describe how the event was opened in the kernel. */
static void fill_attr(struct data_attr *out, const struct evsel *evsel, const struct stat_run *run,
		      bool is_stream, uint64_t *id)
{
	struct perf_event_attr *attr = &out->attr;

	*attr = evsel->attr;
	attr->size = sizeof(*attr);
	/* With PERF_SAMPLE_IDENTIFIER, perf script of Linux would expect samples in a stream. */
	attr->sample_type = is_stream ? 0 : PERF_SAMPLE_IDENTIFIER;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->disabled = evsel__is_leader(evsel);
	attr->inherit = !run->target.no_inherit;
	attr->enable_on_exec = run->plan.enable_on_exec && evsel__is_leader(evsel);
	if (evsel->tool) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_DUMMY;
	}
	*id = evsel->idx + 1;
	out->ids = id;
	out->nr_ids = evsel->state == EVSEL_COUNTING;
}

static int put_attrs(struct stat_record *record, const struct stat_run *run)
{
	const struct evlist *list = run->plan.evlist;
	struct data_attr *attrs __cleanup(free_ptr) = calloc(list->nr + 1, sizeof(*attrs));
	uint64_t *ids __cleanup(free_ptr) = calloc(list->nr + 1, sizeof(*ids));
	const struct header_source source = {
		.evlist = list,
		.attrs = attrs,
		.pmus = run->config.env.pmus,
		.argc = record->argc,
		.argv = record->argv,
		.sysfs = sysfs_root(),
	};
	struct evsel *evsel;
	int i, err;

	if (!attrs || !ids) {
		pr_err("out of memory");
		return -ENOMEM;
	}
	evlist__for_each(list, evsel, i) {
		fill_attr(&attrs[i], evsel, run, data_writer__is_stream(record->writer), &ids[i]);
		if (attrs[i].nr_ids && !record->first_id)
			record->first_id = ids[i];
	}
	err = header_write__fill(record->features, &source);
	if (err) {
		pr_err("out of memory");
		return err;
	}
	return data_writer__begin(record->writer, attrs, list->nr, record->features, true);
}

static void put_cpus(struct byte_buffer *body, const struct cpumap *cpus)
{
	byte_buffer__put_u16(body, CPUS_LIST);
	byte_buffer__put_u16(body, cpus->nr);
	for (int i = 0; i < cpus->nr; i++)
		byte_buffer__put_u16(body, cpus->cpu[i]);
}

static int put_update(struct stat_record *record, const struct evsel *evsel, enum data_update type,
		      const void *payload, size_t len)
{
	struct byte_buffer body = {};

	byte_buffer__put_u64(&body, type);
	byte_buffer__put_u64(&body, evsel->idx + 1);
	if (type == UPDATE_CPUS)
		put_cpus(&body, payload);
	else
		byte_buffer__put(&body, payload, len);
	return put_record(record, RECORD_EVENT_UPDATE, &body);
}

static int put_event(struct stat_record *record, const struct evsel *evsel,
		     const struct cpumap *cpus)
{
	int err = put_update(record, evsel, UPDATE_NAME, evsel->name, strlen(evsel->name) + 1);

	if (!err && evsel->unit && *evsel->unit)
		err = put_update(record, evsel, UPDATE_UNIT, evsel->unit, strlen(evsel->unit) + 1);
	if (!err && evsel->scale != 1)
		err = put_update(record, evsel, UPDATE_SCALE, &evsel->scale, sizeof(evsel->scale));
	if (!err && !cpumap__equal(evsel->cpus, cpus))
		err = put_update(record, evsel, UPDATE_CPUS, evsel->cpus, 0);
	return err;
}

static int put_threads(struct stat_record *record, const struct thread_map *threads)
{
	static const struct {
		uint64_t tid;
		char comm[16];
	} all = {.tid = -1};
	struct byte_buffer body = {};

	byte_buffer__put_u64(&body, threads ? threads->nr : 1);
	if (!threads)
		byte_buffer__put(&body, &all, sizeof(all));
	for (int i = 0; threads && i < threads->nr; i++) {
		char comm[sizeof(threads->thread[i].comm)] = "";

		memccpy(comm, threads->thread[i].comm, '\0', sizeof(comm) - 1);
		byte_buffer__put_u64(&body, threads->thread[i].tid);
		byte_buffer__put(&body, comm, sizeof(comm));
	}
	return put_record(record, RECORD_THREAD_MAP, &body);
}

static int put_config(struct stat_record *record, const struct stat_config *config)
{
	const uint64_t values[][2] = {
		{CONFIG_AGGR_MODE, config->options.aggr_mode},
		{CONFIG_INTERVAL_MS, config->options.interval_ms},
		{CONFIG_SCALE, !config->options.no_scale},
		/* No level means the highest of the machine. */
		{CONFIG_CACHE_LEVEL,
		 config->options.cache_level ? config->options.cache_level : NR_CACHE_LEVELS + 1},
	};
	/*
	 * The tag of the cache level says that modes have the numbers since --per-cache. Older readers
	 * know only the other three tags, and the modes up to AGGR_DIE, whose numbers never changed.
	 */
	size_t nr = ARRAY_SIZE(values) - (config->options.aggr_mode <= AGGR_DIE);
	struct byte_buffer body = {};

	byte_buffer__put_u64(&body, nr);
	byte_buffer__put(&body, values, nr * sizeof(values[0]));
	return put_record(record, RECORD_STAT_CONFIG, &body);
}

/* Return: the CPUs of all events; an event with other CPUs has a record of its own. */
static struct cpumap *all_cpus(const struct evlist *list)
{
	struct cpumap *all = NULL;
	struct evsel *evsel;
	int i;

	evlist__for_each(list, evsel, i) {
		struct cpumap *both;

		if (cpumap__is_any(evsel->cpus) || !evsel->cpus->nr)
			continue;
		both = all ? cpumap__or(all, evsel->cpus) : cpumap__dup(evsel->cpus);
		cpumap__delete(all);
		if (!both)
			return NULL;
		all = both;
	}
	return all ? all : cpumap__any();
}

/* No feature of the header has clusters. */
static char *clusters_text(void)
{
	struct cpumap *present = cpumap__present();
	struct byte_buffer text = {};

	for (int cpu = 0; present && cpu <= cpumap__max(present); cpu++) {
		struct cpu_topology place;
		char *number __cleanup(free_ptr) = NULL;

		cpu_topology__read(&place, sysfs_root(), cpu, 0);
		number = xasprintf("%s%d", cpu ? " " : "", place.cluster);
		text.has_failed |= !number;
		if (number)
			byte_buffer__put(&text, number, strlen(number));
	}
	cpumap__delete(present);
	byte_buffer__put_text(&text, "");
	if (text.has_failed)
		byte_buffer__clear(&text);
	return text.data;
}

static int put_annotations(struct stat_record *record, const struct stat_run *run,
			   const struct annotations *annotations)
{
	char *clusters __cleanup(free_ptr) = clusters_text();
	struct annotations all = *annotations;
	struct byte_buffer body = {};
	int err = 0;

	all.clusters = clusters;
	for (int i = -1; i < run->plan.evlist->nr && !err; i++) {
		if (!body.len) {
			byte_buffer__put_u64(&body, UPDATE_EXTRA);
			byte_buffer__put_u64(&body, record->first_id);
		}
		if (i < 0)
			annotations__put(&body, &all);
		else
			annotations__put_event(&body, run->plan.evlist, i);
		if (body.len > EXTRA_BYTES || i == run->plan.evlist->nr - 1)
			err = put_record(record, RECORD_EVENT_UPDATE, &body);
	}
	byte_buffer__clear(&body);
	return err;
}

static int begin(struct stat_record *record, const struct stat_run *run,
		 const struct annotations *annotations)
{
	const struct evlist *list = run->plan.evlist;
	struct cpumap *cpus = all_cpus(list);
	struct byte_buffer body = {};
	struct evsel *evsel;
	int i, err;

	if (!cpus) {
		pr_err("out of memory");
		return -ENOMEM;
	}
	err = put_attrs(record, run);
	evlist__for_each(list, evsel, i) {
		if (!err && evsel->state == EVSEL_COUNTING)
			err = put_event(record, evsel, cpus);
	}
	if (!err)
		err = put_annotations(record, run, annotations);
	if (err == -E2BIG)
		pr_err("a name or the metrics asked for are too long to be recorded");
	if (!err) {
		err = put_threads(record, run->plan.threads);
		if (err == -E2BIG)
			pr_err("perf.data cannot hold %d threads", run->plan.threads->nr);
	}
	if (!err) {
		put_cpus(&body, cpus);
		err = put_record(record, RECORD_CPU_MAP, &body);
	}
	if (!err)
		err = put_config(record, &run->config);
	if (!err)
		err = data_writer__flush(record->writer);
	cpumap__delete(cpus);
	return err;
}

int stat_record__begin(struct stat_record *record, const struct stat_run *run,
		       const struct annotations *annotations)
{
	int err = begin(record, run, annotations);

	record->has_failed = err != 0;
	return err;
}

/* --- their counts --- */

static int put_counts(struct stat_record *record, const struct evsel *evsel)
{
	struct counts *counts = evsel->counts;
	int err = 0;

	for (int cpu = 0; cpu < counts->nr_cpus; cpu++) {
		for (int thread = 0; thread < counts->nr_threads && !err; thread++) {
			const struct counts_values *v = counts__at(counts, cpu, thread);
			struct data_stat stat = {
				.id = evsel->idx + 1,
				.cpu = evsel->cpus->cpu[cpu],
				.thread = thread,
				.count = *v,
			};

			/* Skip CPUs that were offline all the time. */
			if (!counts->offline[cpu] || v->enabled_ns)
				err = data_writer__record(record->writer, RECORD_STAT, &stat,
							  sizeof(stat));
		}
	}
	return err;
}

static int put_round(struct stat_record *record, const struct evlist *list,
		     const struct stat_round *round)
{
	const struct stat_times *times = round->times;
	struct byte_buffer body = {};
	struct evsel *evsel;
	int i, err = 0;

	evlist__for_each(list, evsel, i) {
		if (!err && evsel->state == EVSEL_COUNTING && evsel->counts)
			err = put_counts(record, evsel);
	}
	if (err)
		return err;
	byte_buffer__put_u64(&body, round->is_interval ? ROUND_INTERVAL : ROUND_FINAL);
	byte_buffer__put_u64(&body, round->time_ns);
	/* Linux's perf ignores what follows these two. */
	if (times) {
		byte_buffer__put_u64(&body, times->user_ns);
		byte_buffer__put_u64(&body, times->sys_ns);
	}
	err = put_record(record, RECORD_STAT_ROUND, &body);
	return err ? err : data_writer__flush(record->writer);
}

int stat_record__round(struct stat_record *record, const struct evlist *list,
		       const struct stat_round *round)
{
	int err = record->has_failed ? 0 : put_round(record, list, round);

	record->has_failed |= err != 0;
	/* Without its file, a run still prints its counts; a stream carries them alone. */
	return data_writer__is_stream(record->writer) ? err : 0;
}

bool stat_record__has_failed(const struct stat_record *record)
{
	return record->has_failed;
}

int stat_record__finish(struct stat_record *record)
{
	int err = record->has_failed ? 0 : data_writer__finish(record->writer);

	record->has_failed |= err != 0;
	return err;
}

void stat_record__delete(struct stat_record *record)
{
	if (!record)
		return;
	data_writer__delete(record->writer);
	header_write__clear(record->features);
	free(record);
}

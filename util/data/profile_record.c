// SPDX-License-Identifier: GPL-2.0
#include "util/data/profile_record.h"

#include "util/data/header_write.h"
#include "util/data/profile_format.h"
#include "util/data/profile_jit.h"
#include "util/data/profile_maps.h"
#include "util/data/profile_names.h"
#include "util/data/writer.h"
#include "util/event/evlist.h"
#include "util/lib/blob_set.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/profile/cgroup_names.h"
#include "util/profile/each_sample.h"
#include "util/profile/profile_options.h"
#include "util/profile/profile_report.h"
#include "util/profile/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The first bytes of the target are enough to tell it from others. */
#define TARGET_BYTES 1024

struct profile_record {
	struct data_writer *writer;
	struct byte_buffer features[NR_FEATURES];
	struct profile_names names;
	struct profile_maps maps;
	/* The profile that is written; borrowed. */
	const struct profile_source *source;
	const struct samples *samples;
	const struct each_record *singles; /* by time */
	uint64_t nr_singles;
};

static int no_memory(void)
{
	pr_err("out of memory");
	return -ENOMEM;
}

int profile_record__new(const char *path, struct profile_record **out)
{
	struct profile_record *record = calloc(1, sizeof(*record));
	int err;

	*out = NULL;
	if (!record)
		return no_memory();
	err = data_writer__open(path, &record->writer);
	if (err)
		free(record);
	else
		*out = record;
	return err;
}

bool profile_record__is_stdout(const struct profile_record *record)
{
	return data_writer__is_stdout(record->writer);
}

void profile_record__delete(struct profile_record *record)
{
	if (!record)
		return;
	data_writer__delete(record->writer);
	header_write__clear(record->features);
	profile_maps__clear(&record->maps);
	profile_names__clear(&record->names);
	free(record);
}

/* --- the header --- */

static void fill_attr(const struct profile_record *record, int event, struct data_attr *out,
		      uint64_t *id)
{
	struct perf_event_attr *attr = &out->attr;
	const struct profile_source *source = record->source;

	*attr = source->report->events->evsels[event]->attr;
	attr->size = sizeof(*attr);
	attr->sample_type = profile_sample_type(source->key, source->each);
	attr->read_format = 0;
	attr->sample_id_all = source->each != NULL;
	attr->use_clockid = source->each != NULL;
	attr->clockid = CLOCK_MONOTONIC;
	attr->freq = source->rate_kind == SAMPLE_BY_FREQ;
	attr->sample_period = source->rate;
	attr->comm = attr->mmap = attr->mmap2 = attr->ksymbol = 1;
	attr->build_id = 1;
	*id = PROFILE_FIRST_ID + event;
	out->ids = id;
	out->nr_ids = 1;
}

static int put_header(struct profile_record *record)
{
	const struct profile_source *source = record->source;
	const struct evlist *events = source->report->events;
	struct data_attr *attrs __cleanup(free_ptr) = calloc(events->nr + 1, sizeof(*attrs));
	uint64_t *ids __cleanup(free_ptr) = calloc(events->nr + 1, sizeof(*ids));
	const struct header_source header = {
		.evlist = events,
		.attrs = attrs,
		.pmus = source->pmus,
		.argc = source->argc,
		.argv = source->argv,
		.sysfs = sysfs_root(),
	};
	int err;

	if (!attrs || !ids)
		return no_memory();
	for (int i = 0; i < events->nr; i++)
		fill_attr(record, i, &attrs[i], &ids[i]);
	err = header_write__fill(record->features, &header);
	profile_maps__put_build_ids(&record->maps, &record->features[FEATURE_BUILD_ID]);
	if (err || record->features[FEATURE_BUILD_ID].has_failed)
		return no_memory();
	return data_writer__begin(record->writer, attrs, events->nr, record->features, false);
}

/* --- the profile --- */

/* Begin a record of ours about an event. */
static void begin_update(struct byte_buffer *body, enum data_update type, int event)
{
	byte_buffer__put_u64(body, type);
	byte_buffer__put_u64(body, PROFILE_FIRST_ID + event);
}

static int put_update(struct profile_record *record, struct byte_buffer *body)
{
	return data_writer__put(record->writer, RECORD_EVENT_UPDATE, 0, body);
}

/* A list of processes can be longer than a record. */
static void put_target(struct byte_buffer *body, const char *target)
{
	char cut[TARGET_BYTES];

	if (snprintf(cut, sizeof(cut), "%s", target) >= (int)sizeof(cut))
		memcpy(cut + sizeof(cut) - strlen("...") - 1, "...", strlen("...") + 1);
	byte_buffer__put_text(body, cut);
}

static int put_profile(struct profile_record *record)
{
	const struct profile_source *source = record->source;
	const struct profile_report *report = source->report;
	struct byte_buffer body = {};
	int err;

	begin_update(&body, UPDATE_PROFILE, 0);
	byte_buffer__put_u32(&body, PROFILE_VERSION);
	byte_buffer__put_u32(&body, source->key);
	byte_buffer__put_u32(&body, source->rate_kind);
	byte_buffer__put_u32(&body, source->each ? PROFILE_EACH : 0);
	byte_buffer__put_u64(&body, source->rate);
	byte_buffer__put_u64(&body, report->time_ns);
	byte_buffer__put_u64(&body, report->elapsed_ns);
	put_target(&body, report->target);
	err = put_update(record, &body);
	for (int i = 0; i < report->events->nr && !err; i++) {
		begin_update(&body, UPDATE_ACCOUNT, i);
		byte_buffer__put(&body, &report->accounts[i], sizeof(report->accounts[i]));
		err = put_update(record, &body);
	}
	return err;
}

/* --- samples --- */

/* Behind its size of 4 bytes, so that both end at a multiple of 8. */
static void put_raw(const struct profile_record *record, int nr, uint64_t nr_samples,
		    struct byte_buffer *body)
{
	const int *places;
	const struct samples_key *key = samples__get(record->samples, nr, &places);
	int nr_places = key->nr_kernel + key->nr_user;

	byte_buffer__put_u32(body, PROFILE_RAW_FIXED + (nr_places + nr_places % 2) * 4);
	byte_buffer__put_u32(body, key->is_truncated ? PROFILE_SAMPLE_TRUNCATED : 0);
	byte_buffer__put_u64(body, nr_samples);
	byte_buffer__put_u32(body, key->prio);
	byte_buffer__put_u16(body, key->nr_kernel);
	byte_buffer__put_u16(body, key->nr_user);
	for (int i = 0; i < nr_places; i++)
		byte_buffer__put_u32(body, profile_names__nr(&record->names, places[i]));
	if (nr_places % 2)
		byte_buffer__put_u32(body, 0);
}

/* @chain: frames with marks; the first frame is behind a mark */
static void fill_sample(const struct profile_record *record, int nr, struct samples_sum sum,
			const struct byte_buffer *chain, struct byte_buffer *body)
{
	const int *places;
	const struct samples_key *key = samples__get(record->samples, nr, &places);
	uint64_t ip = 0;

	if (chain->len)
		memcpy(&ip, chain->data + sizeof(uint64_t), sizeof(ip));
	byte_buffer__put_u64(body, ip);
	byte_buffer__put_u32(body, key->pid);
	byte_buffer__put_u32(body, key->tid);
	if (record->source->each)
		byte_buffer__put_u64(body, record->maps.time_ns);
	if (record->source->key & SAMPLE_ADDR)
		byte_buffer__put_u64(body, key->addr);
	if (record->source->key & SAMPLE_CPU)
		byte_buffer__put_u64(body, key->cpu);
	byte_buffer__put_u64(body, sum.weight);
	byte_buffer__put_u64(body, chain->len / sizeof(uint64_t));
	byte_buffer__put(body, chain->data, chain->len);
	put_raw(record, nr, sum.nr, body);
	if (record->source->key & SAMPLE_CGROUP)
		byte_buffer__put_u64(body, key->cgroup);
	body->has_failed |= chain->has_failed;
}

/* Write a sample with what readers must know before. @sum: that it stands for */
static int put_sample(struct profile_record *record, int nr, struct samples_sum sum)
{
	struct byte_buffer chain = {}, body = {};
	const int *places;
	const struct samples_key *key = samples__get(record->samples, nr, &places);
	int err = profile_maps__put(&record->maps, nr, &chain);

	if (!err) {
		byte_buffer__put_u64(&body, PROFILE_FIRST_ID + key->event);
		fill_sample(record, nr, sum, &chain, &body);
		err = data_writer__put(
			record->writer, PERF_RECORD_SAMPLE,
			key->nr_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, &body);
	}
	byte_buffer__clear(&chain);
	return err;
}

/* --- entries --- */

/* By process and thread, then in the order of their collection. */
static int compare(const void *a, const void *b, void *samples)
{
	const int x = *(const int *)a, y = *(const int *)b, *unused;
	const struct samples_key *x_key = samples__get(samples, x, &unused);
	const struct samples_key *y_key = samples__get(samples, y, &unused);

	if (x_key->pid != y_key->pid)
		return x_key->pid < y_key->pid ? -1 : 1;
	if (x_key->tid != y_key->tid)
		return x_key->tid < y_key->tid ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int put_samples(struct profile_record *record)
{
	int nr = record->samples->keys.nr, err = 0;
	int *order __cleanup(free_ptr) = calloc(nr + 1, sizeof(*order));

	if (!order)
		return no_memory();
	for (int i = 0; i < nr; i++)
		order[i] = i;
	qsort_r(order, nr, sizeof(*order), compare, (void *)record->samples);
	for (int i = 0; i < nr && !err; i++)
		err = put_sample(record, order[i], record->samples->sums[order[i]]);
	return err;
}

/* --- single samples --- */

/* Write an entry for our reader alone. @rest: its samples that have no record */
static int put_entry(struct profile_record *record, int nr, struct samples_sum rest)
{
	struct byte_buffer body = {}, chain = {};
	const int *places;
	const struct samples_key *key = samples__get(record->samples, nr, &places);

	begin_update(&body, UPDATE_ENTRY, key->event);
	byte_buffer__put_text(&body, key->comm);
	fill_sample(record, nr, rest, &chain, &body);
	return put_update(record, &body);
}

/* Write all entries, in their order: a reader has them in the same one. */
static int put_entries(struct profile_record *record, const struct each_record *singles,
		       uint64_t nr_singles)
{
	const struct samples *samples = record->samples;
	size_t size = samples->keys.nr * sizeof(*samples->sums);
	struct samples_sum *rest __cleanup(free_ptr) = malloc(size + 1);
	int err = 0;

	if (!rest)
		return no_memory();
	if (size)
		memcpy(rest, samples->sums, size);
	for (uint64_t i = 0; i < nr_singles; i++) {
		rest[singles[i].entry].nr--;
		rest[singles[i].entry].weight -= singles[i].weight;
	}
	for (int i = 0; i < samples->keys.nr && !err; i++)
		err = put_entry(record, i, rest[i]);
	return err;
}

static int put_losses(struct profile_record *record)
{
	const struct profile_report *report = record->source->report;
	int err = 0;

	for (int i = 0; i < report->events->nr && !err; i++) {
		const struct samples_key of_event = {.event = i, .pid = -1, .tid = -1};
		struct byte_buffer body = {};

		if (!report->accounts[i].unrecorded.nr)
			continue;
		byte_buffer__put_u64(&body, report->accounts[i].unrecorded.nr);
		err = profile_maps__end(&record->maps, PERF_RECORD_LOST_SAMPLES, 0, &of_event,
					&body);
	}
	return err;
}

static int put_singles(struct profile_record *record, const struct each_record *singles,
		       uint64_t nr)
{
	int err = 0;

	for (uint64_t i = 0; i < nr && !err; i++) {
		record->maps.time_ns = singles[i].time_ns;
		err = put_sample(record, singles[i].entry,
				 (struct samples_sum){1, singles[i].weight});
		if (!err && i % PROFILE_ROUND == PROFILE_ROUND - 1)
			err = data_writer__record(record->writer, RECORD_FINISHED_ROUND, NULL, 0);
	}
	return err;
}

static int put_each(struct profile_record *record)
{
	int err = put_entries(record, record->singles, record->nr_singles);

	if (!err)
		err = put_singles(record, record->singles, record->nr_singles);
	return err ? err : put_losses(record);
}

/* The sums need no file: write them if the single samples are out of reach. */
static struct each_sample *sort_singles(struct profile_record *record, struct each_sample *each)
{
	int err = each ? each_sample__sort(each, &record->singles, &record->nr_singles) : 0;

	if (!err)
		return each;
	pr_warn("--each: single samples cannot be sorted: %s: the file has one for all equal ones, without times",
		strerror(-err));
	return NULL;
}

/* --- cgroups --- */

/* Write the name of a cgroup, once. */
static int put_cgroup(struct profile_record *record, struct blob_set *known, uint64_t id)
{
	const struct cgroup_names *names = record->source->report->options->cgroups;
	const char *name = names ? cgroup_names__get(names, id) : NULL;
	struct byte_buffer body = {};
	int before = known->nr, nr;

	if (!name)
		return 0;
	nr = blob_set__add(known, &id, sizeof(id));
	if (nr < before)
		return nr < 0 ? no_memory() : 0;
	byte_buffer__put_u64(&body, id);
	byte_buffer__put_text(&body, name);
	return profile_maps__end(&record->maps, PERF_RECORD_CGROUP, 0, NULL, &body);
}

static int put_cgroups(struct profile_record *record)
{
	struct blob_set known = {};
	int err = 0;

	for (int i = 0; i < record->samples->keys.nr && !err; i++) {
		const int *places;

		err = put_cgroup(record, &known, samples__get(record->samples, i, &places)->cgroup);
	}
	blob_set__clear(&known);
	return err;
}

/* --- the whole --- */

int profile_record__write(struct profile_record *record, const struct profile_source *source)
{
	struct profile_source own = *source;
	int err;

	own.each = sort_singles(record, source->each);
	record->source = &own;
	record->samples = source->report->samples;
	record->maps.writer = record->writer;
	record->maps.names = &record->names;
	record->maps.samples = record->samples;
	record->maps.has_times = own.each;
	record->maps.has_cpus = source->key & SAMPLE_CPU;
	if (profile_names__collect(&record->names, record->samples))
		return no_memory();
	err = put_header(record);
	if (!err)
		err = put_profile(record);
	if (!err)
		err = profile_names__put(&record->names, record->writer, PROFILE_FIRST_ID);
	if (!err)
		err = profile_jit__put(&record->names, record->samples->symbols, record->writer,
				       PROFILE_FIRST_ID);
	if (!err)
		err = profile_maps__put_kernel(&record->maps);
	if (!err)
		err = put_cgroups(record);
	if (!err)
		err = own.each ? put_each(record) : put_samples(record);
	record->source = NULL;
	if (err == -E2BIG)
		pr_err("a name in the profile is too long for perf.data");
	return err ? err : data_writer__finish(record->writer);
}

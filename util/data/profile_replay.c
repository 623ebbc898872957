// SPDX-License-Identifier: GPL-2.0
#include "util/data/profile_replay.h"

#include "util/data/profile_format.h"
#include "util/data/reader.h"
#include "util/data/thread_names.h"
#include "util/event/evlist.h"
#include "util/lib/msg.h"
#include "util/lib/program.h"
#include "util/lib/util.h"
#include "util/symbol/symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Each event has a report of its own, which looks at all samples. */
#define MAX_EVENTS 256

struct reading {
	struct profile_replay *replay;
	struct data_reader *reader;
	uint64_t ids[MAX_EVENTS];
	struct byte_reader body; /* of the current record */
	uint64_t offset;	 /* of the current record */
	bool has_profile;
	uint32_t nr_images, nr_places; /* that were named, by now */
	bool has_times;
	bool has_jit_code;
	struct thread_names threads;
	struct samples_sum sum; /* of all samples */
};

/* Return: -EINVAL after a message about the current record. */
static int refuse(const struct reading *reading, const char *why)
{
	char *renamed __cleanup(free_ptr) = program__rename(why);

	return data_reader__bad(reading->reader, reading->offset, "%s", renamed ? renamed : why);
}

/* --- the head --- */

static int add_event(struct reading *reading, const struct data_attr *attr, const char *name)
{
	struct evlist *events = reading->replay->events;
	struct evsel *evsel;

	if (!name || attr->nr_ids != 1)
		return refuse(reading, "an event without a name or without a number");
	if (attr->attr.sample_type != profile_sample_type(reading->replay->key, reading->has_times))
		return refuse(reading, "samples of another form");
	for (int i = 0; i < events->nr; i++) {
		if (reading->ids[i] == *attr->ids)
			return refuse(reading, "two events of one number");
	}
	reading->ids[events->nr] = *attr->ids;
	evsel = evsel__new(&attr->attr, name);
	if (!evsel)
		return -ENOMEM;
	if (!evlist__add(events, evsel))
		return 0;
	evsel__delete(evsel);
	return -ENOMEM;
}

static int add_events(struct reading *reading)
{
	const struct header_fields *fields = data_reader__header_fields(reading->reader);
	struct profile_replay *replay = reading->replay;
	int nr, err = 0;
	const struct data_attr *attrs = data_reader__attrs(reading->reader, &nr);

	if (!nr || nr > MAX_EVENTS)
		return refuse(reading, nr ? "more events than can be" : "no event");
	replay->events = evlist__new();
	replay->accounts = calloc(nr, sizeof(*replay->accounts));
	if (!replay->events || !replay->accounts)
		return -ENOMEM;
	for (int i = 0; i < nr && !err; i++)
		err = add_event(reading, &attrs[i], i < fields->nr_names ? fields->names[i] : NULL);
	return err;
}

static int take_profile(struct reading *reading)
{
	struct profile_replay *replay = reading->replay;
	struct byte_reader *body = &reading->body;
	uint32_t version = byte_reader__u32(body), kind;
	const char *target;

	if (reading->has_profile)
		return refuse(reading, "a second profile");
	if (version != PROFILE_VERSION)
		return refuse(reading, "a profile of another version of perf");
	replay->key = byte_reader__u32(body);
	kind = byte_reader__u32(body);
	replay->rate_kind = kind == SAMPLE_BY_FREQ ? SAMPLE_BY_FREQ : SAMPLE_BY_PERIOD;
	reading->has_times = byte_reader__u32(body) & PROFILE_EACH;
	replay->rate = byte_reader__u64(body);
	replay->time_ns = byte_reader__u64(body);
	replay->elapsed_ns = byte_reader__u64(body);
	target = byte_reader__text(body);
	if (!target)
		return refuse(reading, "cut off: a profile");
	reading->has_profile = true;
	replay->target = strdup(target);
	replay->symbols = symbols__new_stored();
	replay->samples.symbols = replay->symbols;
	if (!replay->target || !replay->symbols)
		return -ENOMEM;
	return add_events(reading);
}

/* Return: the position of the event with that number, or -EINVAL after a message. */
static int find_event(const struct reading *reading, uint64_t id)
{
	for (int i = 0; i < reading->replay->events->nr; i++) {
		if (reading->ids[i] == id)
			return i;
	}
	return refuse(reading, "an event that was not described");
}

static int take_account(struct reading *reading, uint64_t id)
{
	int event = find_event(reading, id);

	if (event < 0)
		return event;
	byte_reader__get(&reading->body, &reading->replay->accounts[event],
			 sizeof(*reading->replay->accounts));
	return reading->body.is_short ? refuse(reading, "cut off: an account") : 0;
}

/* --- names --- */

/* The last name is filled up with at most 7 bytes. */
static bool has_more(const struct byte_reader *body)
{
	return body->left >= sizeof(uint64_t);
}

static int take_images(struct reading *reading)
{
	while (has_more(&reading->body)) {
		uint64_t kind = byte_reader__u64(&reading->body);
		const char *path = byte_reader__text(&reading->body);
		int nr;

		/* Images of code follow those of the file. */
		if (!path || kind <= IMAGE_KERNEL || kind > IMAGE_JIT || reading->has_jit_code)
			return refuse(reading, "a file that cannot be");
		nr = symbols__store_image(reading->replay->symbols, kind, path);
		if (nr < 0)
			return nr;
		reading->nr_images++;
	}
	return 0;
}

static int take_build_ids(struct reading *reading)
{
	while (has_more(&reading->body)) {
		uint32_t image = byte_reader__u32(&reading->body);
		struct build_id id = {.len = byte_reader__u32(&reading->body)};

		byte_reader__get(&reading->body, id.bytes, sizeof(id.bytes));
		if (!image || image > reading->nr_images || id.len > sizeof(id.bytes) ||
		    reading->body.is_short)
			return refuse(reading, "a build id that cannot be");
		symbols__store_build_id(reading->replay->symbols, image, &id);
	}
	return 0;
}

static int take_jit_code(struct reading *reading)
{
	uint32_t image = byte_reader__u32(&reading->body), len = byte_reader__u32(&reading->body);
	const char *bytes = byte_reader__skip(&reading->body, len);
	int err = -EINVAL;

	if (bytes && image && image <= reading->nr_images)
		err = symbols__store_jit(reading->replay->symbols, image, bytes, len);
	reading->has_jit_code = true;
	return err == -EINVAL ? refuse(reading, "code that cannot be") : err;
}

static int take_place(struct reading *reading)
{
	struct byte_reader *body = &reading->body;
	struct place_name name = {};
	uint32_t image, flags;
	int nr;

	name.position = byte_reader__u64(body);
	name.offset = byte_reader__u64(body);
	image = byte_reader__u32(body);
	flags = byte_reader__u32(body);
	name.is_unknown = flags & PROFILE_PLACE_UNKNOWN;
	name.is_return = flags & PROFILE_PLACE_RETURN;
	name.image = byte_reader__text(body);
	name.name = byte_reader__text(body);
	if (!name.name || image > reading->nr_images || (!image && !*name.image))
		return refuse(reading, "a function that cannot be");
	nr = symbols__store(reading->replay->symbols, image, &name);
	if (nr == -EEXIST)
		return refuse(reading, "two functions at one address");
	if (nr < 0)
		return nr;
	reading->nr_places++;
	return 0;
}

static int take_places(struct reading *reading)
{
	int err = 0;

	while (has_more(&reading->body) && !err)
		err = take_place(reading);
	return err;
}

/* --- records of the kernel --- */

static int take_comm(struct reading *reading)
{
	int32_t pid = byte_reader__u32(&reading->body), tid = byte_reader__u32(&reading->body);
	const char *comm = byte_reader__text(&reading->body);
	int ret;

	if (!comm)
		return refuse(reading, "cut off: the name of a thread");
	ret = thread_names__set(&reading->threads, pid, tid, comm);
	return ret < 0 ? ret : 0;
}

static int take_cgroup(struct reading *reading)
{
	uint64_t id = byte_reader__u64(&reading->body);
	const char *name = byte_reader__text(&reading->body);

	if (!id || !name)
		return refuse(reading, "a cgroup without a name");
	return cgroup_names__add(&reading->replay->cgroups, id, name);
}

static int take_places_of(struct reading *reading, const struct samples_key *key, int *places)
{
	for (int i = 0; i < key->nr_kernel + key->nr_user; i++) {
		uint32_t place = byte_reader__u32(&reading->body);

		if (reading->body.is_short || place >= reading->nr_places)
			return refuse(reading, "a frame without a name");
		places[i] = place;
	}
	return 0;
}

/* Leave out frames that are not wanted. */
static void filter(const struct samples *samples, struct samples_key *key, int *places)
{
	if (samples->no_kernel) {
		memmove(places, places + key->nr_kernel, key->nr_user * sizeof(*places));
		key->nr_kernel = 0;
	}
	if (samples->no_user)
		key->nr_user = 0;
}

/* Return: the raw data of a sample, which end the record but for the cgroup. */
static int take_raw(struct reading *reading, struct samples_key *key, struct samples_sum *sum,
		    int *places)
{
	struct byte_reader *body = &reading->body;
	uint32_t size = byte_reader__u32(body);
	struct byte_reader rest = *body;
	int err;

	if (size < PROFILE_RAW_FIXED || !byte_reader__skip(&rest, size))
		return refuse(reading, "a sample without its names");
	body->left = size;
	key->is_truncated = byte_reader__u32(body) & PROFILE_SAMPLE_TRUNCATED;
	sum->nr = byte_reader__u64(body);
	key->prio = byte_reader__u32(body);
	key->nr_kernel = byte_reader__u16(body);
	key->nr_user = byte_reader__u16(body);
	if (key->nr_kernel > SAMPLE_MAX_FRAMES || key->nr_user > SAMPLE_MAX_FRAMES)
		return refuse(reading, "a stack of more frames than can be");
	err = take_places_of(reading, key, places);
	*body = rest;
	return err;
}

static int take_fields(struct reading *reading, struct samples_key *key, struct samples_sum *sum,
		       int *places)
{
	struct byte_reader *body = &reading->body;
	uint32_t recorded = reading->replay->key;
	uint64_t nr_frames;
	int err;

	byte_reader__u64(body); /* address */
	key->pid = byte_reader__u32(body);
	key->tid = byte_reader__u32(body);
	if (reading->has_times)
		byte_reader__u64(body);
	key->addr = recorded & SAMPLE_ADDR ? byte_reader__u64(body) : 0;
	key->cpu = recorded & SAMPLE_CPU ? byte_reader__u64(body) : 0;
	sum->weight = byte_reader__u64(body);
	nr_frames = byte_reader__u64(body);
	if (nr_frames > DATA_RECORD_MAX / sizeof(uint64_t) ||
	    !byte_reader__skip(body, nr_frames * sizeof(uint64_t)))
		return refuse(reading, "cut off: a sample");
	err = take_raw(reading, key, sum, places);
	key->cgroup = recorded & SAMPLE_CGROUP ? byte_reader__u64(body) : 0;
	return !err && body->is_short ? refuse(reading, "cut off: a sample") : err;
}

/* Add a sample or an entry. @comm: the name of its thread; NULL: as the records up to now have it */
static int take_sample(struct reading *reading, uint64_t id, const char *comm)
{
	struct samples_key key = {.event = find_event(reading, id)};
	const struct thread_name *name;
	struct samples_sum sum = {};
	int places[2 * SAMPLE_MAX_FRAMES];
	int err = key.event < 0 ? key.event : take_fields(reading, &key, &sum, places);

	if (err)
		return err;
	name = thread_names__get(&reading->threads, key.pid, key.tid);
	if (!name && !comm)
		return refuse(reading, "a sample of a thread without a name");
	if (__builtin_add_overflow(reading->sum.nr, sum.nr, &reading->sum.nr) ||
	    __builtin_add_overflow(reading->sum.weight, sum.weight, &reading->sum.weight))
		return refuse(reading, "the sum of the samples is too large");
	comm = comm ? comm : name->text;
	memcpy(key.comm, comm, strnlen(comm, sizeof(key.comm) - 1));
	filter(&reading->replay->samples, &key, places);
	return samples__put(&reading->replay->samples, &key, places, sum);
}

static int take_entry(struct reading *reading, uint64_t id)
{
	const char *comm = byte_reader__text(&reading->body);

	return comm ? take_sample(reading, id, comm) : refuse(reading, "cut off: an entry");
}

/* --- the whole --- */

static int take_update(struct reading *reading)
{
	uint64_t type = byte_reader__u64(&reading->body), id = byte_reader__u64(&reading->body);

	if (type == UPDATE_PROFILE)
		return take_profile(reading);
	if (!reading->has_profile)
		return 0;
	switch (type) {
	case UPDATE_ACCOUNT:
		return take_account(reading, id);
	case UPDATE_IMAGES:
		return take_images(reading);
	case UPDATE_BUILD_IDS:
		return take_build_ids(reading);
	case UPDATE_PLACES:
		return take_places(reading);
	case UPDATE_JIT_CODE:
		return take_jit_code(reading);
	case UPDATE_ENTRY:
		return take_entry(reading, id);
	default:
		return 0;
	}
}

static int take(struct reading *reading, const struct data_record *record)
{
	reading->body = record->body;
	reading->offset = record->offset;
	if (record->type == RECORD_EVENT_UPDATE)
		return take_update(reading);
	if (!reading->has_profile && record->type == PERF_RECORD_SAMPLE)
		return refuse(
			reading,
			"not written by perf profile -o (perf report of Linux reads other files)");
	if (!reading->has_profile)
		return 0;
	switch (record->type) {
	case PERF_RECORD_COMM:
		return take_comm(reading);
	case PERF_RECORD_CGROUP:
		return take_cgroup(reading);
	case PERF_RECORD_SAMPLE:
		return take_sample(reading, byte_reader__u64(&reading->body), NULL);
	default:
		return 0;
	}
}

int profile_replay__read(struct profile_replay *replay, const char *path)
{
	struct reading reading = {.replay = replay};
	struct data_record record;
	int err = data_reader__open(path, &reading.reader), more = 0;

	if (err)
		return err;
	while (!err && (more = data_reader__next(reading.reader, &record)) == 1)
		err = take(&reading, &record);
	if (!err && more < 0)
		err = more;
	reading.offset = data_reader__offset(reading.reader);
	if (!err && !reading.has_profile)
		err = refuse(&reading, "no profile: not written by perf profile -o");
	if (err == -ENOMEM)
		pr_err("out of memory");
	data_reader__delete(reading.reader);
	thread_names__clear(&reading.threads);
	return err;
}

void profile_replay__clear(struct profile_replay *replay)
{
	samples__reset(&replay->samples);
	symbols__delete(replay->symbols);
	evlist__delete(replay->events);
	cgroup_names__clear(&replay->cgroups);
	free(replay->accounts);
	free(replay->target);
	*replay = (struct profile_replay){};
}

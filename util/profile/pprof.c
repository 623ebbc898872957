// SPDX-License-Identifier: GPL-2.0
#include "util/profile/pprof.h"

#include "util/event/evlist.h"
#include "util/lib/array.h"
#include "util/lib/blob_set.h"
#include "util/lib/printable.h"
#include "util/lib/protobuf.h"
#include "util/lib/util.h"
#include "util/profile/cgroup_names.h"
#include "util/profile/profile_options.h"
#include "util/profile/profile_report.h"
#include "util/profile/report_text.h"
#include "util/profile/samples.h"
#include "util/sample/sample_types.h"
#include "util/symbol/symbols.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

/* Field numbers of profile.proto. */
enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING,
	PROFILE_TIME = 9,
	PROFILE_DURATION,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_TYPE,
};

enum type_field { TYPE_TYPE = 1, TYPE_UNIT };
enum sample_field { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum label_field { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum mapping_field { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum location_field { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum line_field { LINE_FUNCTION = 1, LINE_LINE };
/* Readers take a name that is also the system's for a mangled one, and shorten it. So there is no name of the system. */
enum function_field { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_FILE = 4 };

/* Ids are positions in the sets, from 1 on. */
struct maker {
	const struct profile_report *report;
	struct byte_buffer message;
	struct blob_set strings, mappings, functions, places;
	bool has_failed; /* out of memory */
};

static int add(struct maker *maker, struct blob_set *set, const void *data, size_t len)
{
	int nr = blob_set__add(set, data, len);

	maker->has_failed |= nr < 0;
	return nr < 0 ? 0 : nr;
}

/* Return: the number of a text, which must be valid UTF-8. */
static int string(struct maker *maker, const char *text)
{
	char *escaped __cleanup(free_ptr) = printable__text(text, NULL);

	maker->has_failed |= !escaped;
	return escaped ? add(maker, &maker->strings, escaped, strlen(escaped) + 1) : 0;
}

/* --- values --- */

static const char *unit_of(const struct evsel *evsel)
{
	return evsel__is_clock(evsel) ? "nanoseconds" : "count";
}

static void put_type(struct maker *maker, int field, const char *type, const char *unit)
{
	struct byte_buffer inner = {};

	protobuf__put_number(&inner, TYPE_TYPE, string(maker, type));
	protobuf__put_number(&inner, TYPE_UNIT, string(maker, unit));
	protobuf__put_message(&maker->message, field, &inner);
}

/* Each event has two values, the samples and the weight. */
static void put_types(struct maker *maker)
{
	const struct evlist *events = maker->report->events;

	for (int i = 0; i < events->nr; i++) {
		const struct evsel *evsel = events->evsels[i];
		char *samples __cleanup(free_ptr) =
			events->nr == 1 ? strdup("samples") : xasprintf("%s samples", evsel->name);

		put_type(maker, PROFILE_SAMPLE_TYPE, samples ? samples : "samples", "count");
		put_type(maker, PROFILE_SAMPLE_TYPE, evsel->name, unit_of(evsel));
	}
	protobuf__put_number(&maker->message, PROFILE_DEFAULT_TYPE,
			     string(maker, events->evsels[0]->name));
	if (maker->report->accounts[0].period) {
		put_type(maker, PROFILE_PERIOD_TYPE, events->evsels[0]->name,
			 unit_of(events->evsels[0]));
		protobuf__put_number(&maker->message, PROFILE_PERIOD,
				     maker->report->accounts[0].period);
	}
}

/* --- places --- */

static int mapping(struct maker *maker, const char *path)
{
	int before = maker->mappings.nr, nr;
	struct byte_buffer inner = {};

	nr = add(maker, &maker->mappings, path, strlen(path) + 1);
	if (nr < before || maker->has_failed)
		return nr + 1;
	protobuf__put_number(&inner, MAPPING_ID, nr + 1);
	protobuf__put_number(&inner, MAPPING_FILE, string(maker, path));
	protobuf__put_number(&inner, MAPPING_HAS_FUNCTIONS, 1);
	protobuf__put_message(&maker->message, PROFILE_MAPPING, &inner);
	return nr + 1;
}

static bool is_program(const char *path)
{
	size_t len = strlen(path);

	return *path == '/' && !strstr(path, ".so.") && (len < 3 || strcmp(path + len - 3, ".so"));
}

/* Return: the path of the program in a stack of user frames, which begins at the innermost one; NULL: there is none */
static const char *program_of(const struct maker *maker, const int *places, int nr)
{
	while (nr-- > 0) {
		struct place_name name;

		symbols__name(maker->report->samples->symbols, places[nr], &name);
		if (is_program(name.path))
			return name.path;
	}
	return NULL;
}

/* The first mapping is that of the main program for readers: here, that with the most samples. */
static void put_program(struct maker *maker)
{
	const struct samples *samples = maker->report->samples;
	struct blob_set paths = {};
	uint64_t *sums __cleanup(free_ptr) = NULL;
	int nr_sums = 0, most = -1;

	for (int i = 0; i < samples->keys.nr; i++) {
		const int *places;
		const struct samples_key *key = samples__get(samples, i, &places);
		const char *path = program_of(maker, places + key->nr_kernel, key->nr_user);
		int nr = path ? add(maker, &paths, path, strlen(path) + 1) : -1;

		if (nr == nr_sums && !array__add(sums, nr_sums))
			maker->has_failed = true;
		if (maker->has_failed)
			break;
		if (nr < 0)
			continue;
		sums[nr] += samples->sums[i].nr;
		most = most < 0 || sums[nr] > sums[most] ? nr : most;
	}
	if (most >= 0)
		mapping(maker, blob_set__get(&paths, most, NULL));
	blob_set__clear(&paths);
}

/* Lines of a function can be of several files, if others are inlined in it. It is a function for each of them. */
static int function(struct maker *maker, const struct place_name *name)
{
	const int key[] = {name->function, name->file ? string(maker, name->file) : 0};
	int before = maker->functions.nr, nr;
	struct byte_buffer inner = {};

	nr = add(maker, &maker->functions, key, sizeof(key));
	if (nr < before || maker->has_failed)
		return nr + 1;
	protobuf__put_number(&inner, FUNCTION_ID, nr + 1);
	protobuf__put_number(&inner, FUNCTION_NAME, string(maker, name->name));
	protobuf__put_number(&inner, FUNCTION_FILE, key[1]);
	protobuf__put_message(&maker->message, PROFILE_FUNCTION, &inner);
	return nr + 1;
}

static int location(struct maker *maker, int place)
{
	int before = maker->places.nr, nr;
	struct byte_buffer inner = {}, line = {};
	struct place_name name;

	nr = add(maker, &maker->places, &place, sizeof(place));
	if (nr < before || maker->has_failed)
		return nr + 1;
	symbols__name(maker->report->samples->symbols, place, &name);
	protobuf__put_number(&line, LINE_FUNCTION, function(maker, &name));
	protobuf__put_number(&line, LINE_LINE, name.line);
	protobuf__put_number(&inner, LOCATION_ID, nr + 1);
	protobuf__put_number(&inner, LOCATION_MAPPING, mapping(maker, name.path));
	protobuf__put_number(&inner, LOCATION_ADDRESS, name.position);
	protobuf__put_message(&inner, LOCATION_LINE, &line);
	protobuf__put_message(&maker->message, PROFILE_LOCATION, &inner);
	return nr + 1;
}

/* --- samples --- */

static void put_label(struct maker *maker, struct byte_buffer *sample, const char *key,
		      const char *text, uint64_t number)
{
	struct byte_buffer inner = {};

	protobuf__put_number(&inner, LABEL_KEY, string(maker, key));
	if (text)
		protobuf__put_number(&inner, LABEL_TEXT, string(maker, text));
	else
		protobuf__put_number(&inner, LABEL_NUMBER, number);
	protobuf__put_message(sample, SAMPLE_LABEL, &inner);
}

static void put_labels(struct maker *maker, struct byte_buffer *sample,
		       const struct samples_key *key)
{
	const struct cgroup_names *cgroups = maker->report->options->cgroups;

	put_label(maker, sample, "pid", NULL, key->pid);
	put_label(maker, sample, "comm", key->comm, 0);
	if (key->cgroup)
		put_label(maker, sample, "cgroup",
			  cgroups ? cgroup_names__get(cgroups, key->cgroup) : NULL, key->cgroup);
}

static void put_sample(struct maker *maker, int idx)
{
	const struct samples *samples = maker->report->samples;
	struct byte_buffer sample = {}, locations = {}, values = {};
	const int *places;
	const struct samples_key *key = samples__get(samples, idx, &places);

	for (int i = 0; i < key->nr_kernel + key->nr_user; i++)
		protobuf__put_packed(&locations, location(maker, places[i]));
	for (int i = 0; i < maker->report->events->nr; i++) {
		protobuf__put_packed(&values, i == key->event ? samples->sums[idx].nr : 0);
		protobuf__put_packed(&values, i == key->event ? samples->sums[idx].weight : 0);
	}
	protobuf__put_message(&sample, SAMPLE_LOCATIONS, &locations);
	protobuf__put_message(&sample, SAMPLE_VALUES, &values);
	put_labels(maker, &sample, key);
	protobuf__put_message(&maker->message, PROFILE_SAMPLE, &sample);
}

/* --- the whole --- */

static void put_comment(struct maker *maker, const char *text)
{
	protobuf__put_number(&maker->message, PROFILE_COMMENT, string(maker, text));
}

/* The account: pprof -comments prints it. */
static void put_comments(struct maker *maker)
{
	for (int i = 0; i < maker->report->events->nr; i++) {
		char *title __cleanup(free_ptr) = report_text__title(maker->report, i);
		char *lines __cleanup(free_ptr) = report_text__account(maker->report, i);
		char *rest = lines, *line;

		maker->has_failed |= !title || !lines;
		if (title)
			put_comment(maker, title);
		while (rest && (line = strsep(&rest, "\n"))) {
			if (*line)
				put_comment(maker, line);
		}
	}
}

static void put_times(struct maker *maker)
{
	struct timespec now;
	uint64_t now_ns;

	clock_gettime(CLOCK_REALTIME, &now);
	now_ns = now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
	protobuf__put_number(&maker->message, PROFILE_TIME, now_ns - maker->report->elapsed_ns);
	protobuf__put_number(&maker->message, PROFILE_DURATION, maker->report->elapsed_ns);
}

static void put_strings(struct maker *maker)
{
	for (int i = 0; i < maker->strings.nr; i++) {
		size_t len;
		const char *text = blob_set__get(&maker->strings, i, &len);

		protobuf__put_bytes(&maker->message, PROFILE_STRING, text, len - 1);
	}
}

static int write_gzip(FILE *out, const struct byte_buffer *message)
{
	z_stream stream = {.next_in = (Bytef *)message->data, .avail_in = message->len};
	char buf[16384];
	int err;

	if (message->len > UINT32_MAX)
		return -E2BIG;
	/* 16 more bits of the window: with the header of gzip. */
	if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	do {
		stream.next_out = (Bytef *)buf;
		stream.avail_out = sizeof(buf);
		err = deflate(&stream, Z_FINISH);
		fwrite(buf, 1, sizeof(buf) - stream.avail_out, out);
	} while (err == Z_OK || (err == Z_BUF_ERROR && !stream.avail_out));
	deflateEnd(&stream);
	return err == Z_STREAM_END ? 0 : -EIO;
}

int pprof__write(FILE *out, const struct profile_report *report, const char *path __unused)
{
	struct maker maker = {.report = report};
	int err;

	string(&maker, ""); /* number 0 */
	put_types(&maker);
	put_program(&maker);
	for (int i = 0; i < report->samples->keys.nr; i++)
		put_sample(&maker, i);
	put_times(&maker);
	put_comments(&maker);
	put_strings(&maker);
	err = maker.has_failed || maker.message.has_failed ? -ENOMEM :
							     write_gzip(out, &maker.message);
	byte_buffer__clear(&maker.message);
	blob_set__clear(&maker.strings);
	blob_set__clear(&maker.mappings);
	blob_set__clear(&maker.functions);
	blob_set__clear(&maker.places);
	return err;
}

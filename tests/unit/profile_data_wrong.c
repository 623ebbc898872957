// SPDX-License-Identifier: GPL-2.0
/* Files that are no profile, or one that cannot be: each is refused with a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "own_dir.h"
#include "refused_profile.h"
#include "util/data/profile_format.h"
#include "util/data/reader.h"
#include "util/data/writer.h"
#include "util/lib/byte_buffer.h"
#include "util/lib/util.h"
#include "util/symbol/symbols.h"

/* A file that is written by hand: an event, the head of a profile, a place, a name, then a record. */
static struct data_writer *begin_file(struct byte_buffer *features, uint32_t version)
{
	static uint64_t id = 1;
	const struct data_attr attr = {
		.attr = {.size = sizeof(attr.attr), .sample_type = profile_sample_type(0, false)},
		.ids = &id,
		.nr_ids = 1};
	struct byte_buffer body = {};
	struct data_writer *writer;

	byte_buffer__put_u32(features, 1);
	byte_buffer__put_u32(features, sizeof(attr.attr));
	byte_buffer__put(features, &attr.attr, sizeof(attr.attr));
	byte_buffer__put_u32(features, 1);
	byte_buffer__put_string(features, "cycles");
	byte_buffer__put_u64(features, id);
	assert_int_equal(data_writer__open("x", &writer), 0);
	assert_int_equal(data_writer__begin(writer, &attr, 1, features - FEATURE_EVENT_DESC, false),
			 0);
	byte_buffer__put_u64(&body, UPDATE_PROFILE);
	byte_buffer__put_u64(&body, id);
	byte_buffer__put_u32(&body, version);
	byte_buffer__put(&body, (uint64_t[5]){}, 4 + 8 + 3 * 8);
	byte_buffer__put_text(&body, "target");
	assert_int_equal(data_writer__put(writer, RECORD_EVENT_UPDATE, 0, &body), 0);
	return writer;
}

struct fault {
	const char *why;
	uint32_t type;
	uint64_t words[14];
	int nr_words;
};

static void check_fault(const struct fault *fault, uint32_t version)
{
	static const uint64_t place[] = {UPDATE_PLACES, 1, 0x40, 0, 0, 0x626100630062};
	static const uint64_t comm[] = {12ULL << 32 | 11, 'c'};
	struct byte_buffer features[NR_FEATURES] = {}, body = {};
	struct data_writer *writer = begin_file(&features[FEATURE_EVENT_DESC], version);

	byte_buffer__put(&body, place, sizeof(place));
	assert_int_equal(data_writer__put(writer, RECORD_EVENT_UPDATE, 0, &body), 0);
	byte_buffer__put(&body, comm, sizeof(comm));
	assert_int_equal(data_writer__put(writer, PERF_RECORD_COMM, 0, &body), 0);
	for (int i = 0; i < 2; i++) {
		byte_buffer__put(&body, fault->words, fault->nr_words * sizeof(uint64_t));
		assert_int_equal(data_writer__put(writer, fault->type, 0, &body), 0);
	}
	assert_int_equal(data_writer__finish(writer), 0);
	data_writer__delete(writer);
	byte_buffer__clear(&features[FEATURE_EVENT_DESC]);
	if (fault->why)
		assert_refused("x", fault->why);
}

/* Words of a sample: id, ip, thread, weight, number of frames, raw size and flags, number, prio and frames, place. */
#define THREAD		     (12ULL << 32 | 11)
#define RAW(size)	     (size)
#define FRAMES(kernel, user) ((uint64_t)(user) << 48 | (uint64_t)(kernel) << 32)

static void test_records_that_cannot_be_are_refused(void **state __unused)
{
	static const struct fault faults[] = {
		{"an event that was not described", PERF_RECORD_SAMPLE, {2}, 9},
		{"an event that was not described", RECORD_EVENT_UPDATE, {UPDATE_ACCOUNT, 3}, 2},
		{"cut off: an account", RECORD_EVENT_UPDATE, {UPDATE_ACCOUNT, 1}, 4},
		{"cut off: a sample", PERF_RECORD_SAMPLE, {1, 0, THREAD, 1, 1ULL << 61}, 9},
		{"cut off: a sample", PERF_RECORD_SAMPLE, {1, 0, THREAD, 1, 5}, 9},
		{"a sample without its names", PERF_RECORD_SAMPLE, {1, 0, THREAD, 1, 0, RAW(8)}, 9},
		{"a sample without its names",
		 PERF_RECORD_SAMPLE,
		 {1, 0, THREAD, 1, 0, RAW(29)},
		 9},
		{"a stack of more frames than can be",
		 PERF_RECORD_SAMPLE,
		 {1, 0, THREAD, 1, 0, RAW(28), 1, FRAMES(128, 0), 0},
		 9},
		{"a frame without a name",
		 PERF_RECORD_SAMPLE,
		 {1, 0, THREAD, 1, 0, RAW(28), 1, FRAMES(1, 0), 1},
		 9},
		{"a frame without a name",
		 PERF_RECORD_SAMPLE,
		 {1, 0, THREAD, 1, 0, RAW(28), 1, FRAMES(2, 1), 0},
		 9},
		{"a sample of a thread without a name",
		 PERF_RECORD_SAMPLE,
		 {1, 0, 11, 1, 0, RAW(28), 1, FRAMES(1, 0), 0},
		 9},
		{"the sum of the samples is too large",
		 PERF_RECORD_SAMPLE,
		 {1, 0, THREAD, 1ULL << 63, 0, RAW(28), 1, FRAMES(1, 0), 0},
		 9},
		{"two functions at one address",
		 RECORD_EVENT_UPDATE,
		 {UPDATE_PLACES, 1, 0x40, 0, 0, 0x626100630062},
		 6},
		{"a function that cannot be",
		 RECORD_EVENT_UPDATE,
		 {UPDATE_PLACES, 1, 0x50, 0, 1, 0x626100630062},
		 6},
		{"a function that cannot be",
		 RECORD_EVENT_UPDATE,
		 {UPDATE_PLACES, 1, 0x50, 0, 0, -1ULL},
		 6},
		{"a file that cannot be", RECORD_EVENT_UPDATE, {UPDATE_IMAGES, 1, 0, 'x'}, 4},
		{"a file that cannot be", RECORD_EVENT_UPDATE, {UPDATE_IMAGES, 1, 4, 'x'}, 4},
		{"code that cannot be", RECORD_EVENT_UPDATE, {UPDATE_JIT_CODE, 1, 0}, 3},
		{"code that cannot be", RECORD_EVENT_UPDATE, {UPDATE_JIT_CODE, 1, 1, 0}, 4},
		{"code that cannot be",
		 RECORD_EVENT_UPDATE,
		 {UPDATE_JIT_CODE, 1, 9ULL << 32, 0},
		 4},
		{"a cgroup without a name", PERF_RECORD_CGROUP, {0, 'x'}, 2},
		{"cut off: the name of a thread", PERF_RECORD_COMM, {THREAD, -1ULL}, 2},
		{"a second profile", RECORD_EVENT_UPDATE, {UPDATE_PROFILE, 1, PROFILE_VERSION}, 9},
	};
	const struct fault none = {
		NULL,
		PERF_RECORD_SAMPLE,
		{1, 0, THREAD, 1, 0, RAW(28), 1, FRAMES(1, 0), 0},
		9,
	};
	struct profile_replay replay = {};

	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		check_fault(&faults[i], PROFILE_VERSION);
	check_fault(&none, PROFILE_VERSION);
	assert_int_equal(profile_replay__read(&replay, "x"), 0);
	assert_int_equal(replay.samples.sums[0].weight, 2);
	profile_replay__clear(&replay);
	check_fault(&(struct fault){"a profile of another version of perf", 0, {}, 0},
		    PROFILE_VERSION + 1);
}

static void put_images(struct data_writer *writer)
{
	struct byte_buffer body = {};

	byte_buffer__put_u64(&body, UPDATE_IMAGES);
	byte_buffer__put_u64(&body, 1);
	byte_buffer__put_u64(&body, IMAGE_JIT);
	byte_buffer__put_text(&body, "[anon]");
	byte_buffer__put_u64(&body, IMAGE_FILE);
	byte_buffer__put_text(&body, "/file");
	assert_int_equal(data_writer__put(writer, RECORD_EVENT_UPDATE, 0, &body), 0);
}

/* A JIT compiler's image and a file, 16 bytes of code of one of them, and perhaps two more images. */
static void write_code(uint64_t image, bool has_more)
{
	const uint64_t code[] = {UPDATE_JIT_CODE, 1, 8ULL << 32 | image, 0};
	struct byte_buffer features[NR_FEATURES] = {}, body = {};
	struct data_writer *writer = begin_file(&features[FEATURE_EVENT_DESC], PROFILE_VERSION);

	put_images(writer);
	for (int i = 0; i < 2; i++) {
		byte_buffer__put(&body, code, sizeof(code));
		assert_int_equal(data_writer__put(writer, RECORD_EVENT_UPDATE, 0, &body), 0);
	}
	if (has_more)
		put_images(writer);
	assert_int_equal(data_writer__finish(writer), 0);
	data_writer__delete(writer);
	byte_buffer__clear(&features[FEATURE_EVENT_DESC]);
}

static void test_code_belongs_to_a_jit_compiler(void **state __unused)
{
	struct profile_replay replay = {};
	const struct image *dump;
	struct stat st;

	write_code(1, false);
	assert_int_equal(profile_replay__read(&replay, "x"), 0);
	dump = symbols__open_jit(replay.symbols, 1);
	assert_non_null(dump);
	assert_int_equal(fstat(dump->fd, &st), 0);
	assert_int_equal(st.st_size, 16);
	/* Nobody changes it any more, and there is no other. */
	assert_int_equal(write(dump->fd, "x", 1), -1);
	assert_null(symbols__open_jit(replay.symbols, 2));
	profile_replay__clear(&replay);
	write_code(2, false);
	assert_refused("x", "code that cannot be");
	write_code(1, true);
	assert_refused("x", "a file that cannot be");
}

static int put_sample(struct data_writer *writer, const void *data, size_t len)
{
	struct byte_buffer body = {};

	byte_buffer__put(&body, data, len);
	return data_writer__put(writer, PERF_RECORD_SAMPLE, 0, &body);
}

static void test_other_files_are_refused(void **state __unused)
{
	struct byte_buffer features[NR_FEATURES] = {};
	struct data_writer *writer;
	uint64_t body[4] = {};

	assert_int_equal(data_writer__open("x", &writer), 0);
	assert_int_equal(data_writer__begin(writer, NULL, 0, features, true), 0);
	assert_int_equal(data_writer__record(writer, RECORD_STAT_ROUND, body, sizeof(body)), 0);
	assert_int_equal(data_writer__finish(writer), 0);
	data_writer__delete(writer);
	assert_refused("x", "no profile: not written by perf profile -o");
	assert_int_equal(data_writer__open("x", &writer), 0);
	assert_int_equal(data_writer__begin(writer, NULL, 0, features, false), 0);
	assert_int_equal(put_sample(writer, body, sizeof(body)), 0);
	assert_int_equal(data_writer__finish(writer), 0);
	data_writer__delete(writer);
	assert_refused("x",
		       "not written by perf profile -o (perf report of Linux reads other files)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records_that_cannot_be_are_refused),
		cmocka_unit_test(test_code_belongs_to_a_jit_compiler),
		cmocka_unit_test(test_other_files_are_refused),
	};

	return cmocka_run_group_tests(tests, make_own_dir, remove_own_dir);
}

// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/lib/byte_buffer.h"
#include "util/lib/util.h"
#include "util/symbol/jit_dump.h"

enum { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE, CODE_UNWINDING };

static void put_header(struct byte_buffer *file)
{
	static const uint32_t header[10] = {0x4a695444, 1, 40};

	byte_buffer__put(file, header, sizeof(header));
}

static void put_head(struct byte_buffer *file, uint32_t kind, size_t size)
{
	byte_buffer__put_u32(file, kind);
	byte_buffer__put_u32(file, 16 + size);
	byte_buffer__put_u64(file, 123456789);
}

static void put_load(struct byte_buffer *file, uint64_t start, uint64_t size, uint64_t index,
		     const char *name)
{
	put_head(file, CODE_LOAD, 40 + strlen(name) + 1 + 8);
	byte_buffer__put_u64(file, 0); /* pid, tid */
	byte_buffer__put_u64(file, start);
	byte_buffer__put_u64(file, start);
	byte_buffer__put_u64(file, size);
	byte_buffer__put_u64(file, index);
	byte_buffer__put_text(file, name);
	byte_buffer__put(file, "code....", 8);
}

static void put_move(struct byte_buffer *file, uint64_t to, uint64_t size, uint64_t index)
{
	put_head(file, CODE_MOVE, 48);
	byte_buffer__put_u64(file, 0); /* pid, tid */
	byte_buffer__put_u64(file, to);
	byte_buffer__put_u64(file, 0);
	byte_buffer__put_u64(file, to);
	byte_buffer__put_u64(file, size);
	byte_buffer__put_u64(file, index);
}

static void put_line(struct byte_buffer *file, uint64_t address, uint32_t line, const char *name)
{
	byte_buffer__put_u64(file, address);
	byte_buffer__put_u32(file, line);
	byte_buffer__put_u32(file, 0);
	byte_buffer__put_text(file, name);
}

static void put_lines(struct byte_buffer *file, uint64_t start, const struct byte_buffer *lines)
{
	put_head(file, CODE_DEBUG_INFO, 16 + lines->len);
	byte_buffer__put_u64(file, start);
	byte_buffer__put_u64(file, 0);
	byte_buffer__put(file, lines->data, lines->len);
}

static int read_file_of(const struct byte_buffer *file, struct jit_dump *dump)
{
	int fd = memfd_create("jit.dump", MFD_CLOEXEC), err;

	*dump = (struct jit_dump){};
	assert_int_equal(write(fd, file->data, file->len), file->len);
	err = jit_dump__read(fd, dump);
	close(fd);
	return err;
}

/* @want: "name+offset file:line"; NULL: there is no function */
static void assert_at(const struct jit_dump *dump, uint64_t address, const char *want)
{
	struct jit_place place;
	char *text;

	if (!want) {
		assert_false(jit_dump__find(dump, address, &place));
		return;
	}
	assert_true(jit_dump__find(dump, address, &place));
	text = xasprintf("%s+%d %s:%u", place.name, (int)place.offset, place.file, place.line);
	assert_string_equal(text, want);
	free(text);
}

static void test_functions_are_found_by_address(void **state __unused)
{
	struct byte_buffer file = {};
	struct jit_dump dump;

	put_header(&file);
	put_load(&file, 0x2000, 0x100, 2, "later in memory");
	put_load(&file, 0x1000, 0x100, 1, "one");
	put_head(&file, CODE_UNWINDING, 24);
	byte_buffer__put(&file, "unwinding information...", 24);
	put_load(&file, 0x1100, 0x10, 3, "behind");
	put_head(&file, CODE_CLOSE, 0);
	assert_int_equal(read_file_of(&file, &dump), 0);
	assert_at(&dump, 0xfff, NULL);
	assert_at(&dump, 0x1000, "one+0 :0");
	assert_at(&dump, 0x10ff, "one+255 :0");
	assert_at(&dump, 0x1100, "behind+0 :0");
	assert_at(&dump, 0x1110, NULL);
	assert_at(&dump, 0x2001, "later in memory+1 :0");
	jit_dump__clear(&dump);
	byte_buffer__clear(&file);
}

static void test_the_last_function_at_an_address_counts(void **state __unused)
{
	struct byte_buffer file = {};
	struct jit_dump dump;

	put_header(&file);
	put_load(&file, 0x1000, 0x100, 1, "old");
	put_load(&file, 0x1080, 0x40, 2, "inside");
	put_load(&file, 0x1800, 0x10, 3, "hidden");
	put_load(&file, 0x1700, 0x400, 4, "around");
	put_load(&file, 0x1000, 0x10, 5, "new");
	assert_int_equal(read_file_of(&file, &dump), 0);
	assert_at(&dump, 0x1008, "new+8 :0");
	assert_at(&dump, 0x1010, "old+16 :0");
	assert_at(&dump, 0x107f, "old+127 :0");
	assert_at(&dump, 0x1080, "inside+0 :0");
	assert_at(&dump, 0x10c0, "old+192 :0");
	assert_at(&dump, 0x1100, NULL);
	assert_at(&dump, 0x1800, "around+256 :0");
	jit_dump__clear(&dump);
	byte_buffer__clear(&file);
}

static void test_a_function_is_found_where_it_was_moved(void **state __unused)
{
	struct byte_buffer file = {};
	struct jit_dump dump;

	put_header(&file);
	put_load(&file, 0x1000, 0x100, 1, "first");
	put_load(&file, 0x2000, 0x100, 2, "second");
	put_move(&file, 0x5000, 0x100, 1);
	put_move(&file, 0x6000, 0x100, 99); /* unknown */
	put_move(&file, 0x6000, 0x100, UINT64_MAX);
	put_load(&file, 0x1000, 0x100, 3, "third");
	assert_int_equal(read_file_of(&file, &dump), 0);
	assert_at(&dump, 0x5002, "first+2 :0");
	assert_at(&dump, 0x1002, "third+2 :0");
	assert_at(&dump, 0x6002, NULL);
	jit_dump__clear(&dump);
	byte_buffer__clear(&file);
}

static void test_lines_are_of_the_function_behind_them(void **state __unused)
{
	struct byte_buffer file = {}, lines = {}, others = {};
	struct jit_dump dump;

	put_line(&lines, 0x1000, 10, "a.js");
	put_line(&lines, 0x1010, 12, "b.js");
	put_line(&lines, 0x1020, 13, "\xff");
	put_line(&lines, 0x1008, 11, "a.js");
	put_line(&lines, 0x1030, UINT32_MAX, "a.js");
	put_line(&lines, 0x1040, 14, "\312\003");
	put_line(&lines, 0x1050, 15, "\xff");
	put_line(&others, 0x9000, 99, "other.js");
	put_header(&file);
	put_lines(&file, 0x9000, &others); /* of no function */
	put_lines(&file, 0x1000, &lines);
	put_load(&file, 0x1000, 0x100, 1, "one");
	put_load(&file, 0x2000, 0x100, 2, "without");
	put_lines(&file, 0x9000, &others);
	put_load(&file, 0x3000, 0x100, 3, "not its own");
	put_move(&file, 0x5000, 0x100, 1);
	assert_int_equal(read_file_of(&file, &dump), 0);
	assert_at(&dump, 0x1007, "one+7 a.js:10");
	assert_at(&dump, 0x1008, "one+8 a.js:11");
	assert_at(&dump, 0x1010, "one+16 b.js:12");
	assert_at(&dump, 0x103f, "one+63 b.js:13");
	assert_at(&dump, 0x1040, "one+64 :0");
	assert_at(&dump, 0x10ff, "one+255 :0");
	assert_at(&dump, 0x5010, "one+16 b.js:12");
	assert_at(&dump, 0x2000, "without+0 :0");
	assert_at(&dump, 0x3000, "not its own+0 :0");
	jit_dump__clear(&dump);
	byte_buffer__clear(&file);
	byte_buffer__clear(&lines);
	byte_buffer__clear(&others);
}

static void test_a_record_that_is_not_complete_is_left_out(void **state __unused)
{
	struct byte_buffer file = {};
	struct jit_dump dump;
	size_t first, len;

	put_header(&file);
	put_load(&file, 0x1000, 0x100, 1, "complete");
	first = file.len;
	put_load(&file, 0x2000, 0x100, 2, "partial");
	for (len = file.len; file.len-- > first;) {
		assert_int_equal(read_file_of(&file, &dump), 0);
		assert_at(&dump, 0x1000, "complete+0 :0");
		assert_at(&dump, 0x2000, NULL);
		jit_dump__clear(&dump);
	}
	file.len = len;
	assert_int_equal(read_file_of(&file, &dump), 0);
	assert_at(&dump, 0x2000, "partial+0 :0");
	jit_dump__clear(&dump);
	byte_buffer__clear(&file);
}

static void test_sizes_that_cannot_be_end_the_reading(void **state __unused)
{
	static const uint64_t sizes[] = {0, UINT64_MAX, UINT64_MAX - 0x1000};
	struct byte_buffer file = {};
	struct jit_dump dump;

	put_header(&file);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
		put_load(&file, 0x1001, sizes[i], i, "no range");
	put_load(&file, 0x1000, 0x100, 7, "one");
	byte_buffer__put(&file, (char[200]){}, 200); /* records of size 0 */
	assert_int_equal(read_file_of(&file, &dump), 0);
	assert_at(&dump, 0x1001, "one+1 :0");
	assert_at(&dump, 0x1200, NULL);
	jit_dump__clear(&dump);
	byte_buffer__clear(&file);
}

static void test_other_files_are_refused(void **state __unused)
{
	static const uint32_t headers[][10] = {
		{0x4454694a, 1, 40}, {0x4a695444, 2, 40}, {0x4a695444, 1, 39}, {}};
	struct byte_buffer file = {};
	struct jit_dump dump;

	assert_int_equal(read_file_of(&file, &dump), -ENOEXEC);
	jit_dump__clear(&dump);
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		byte_buffer__put(&file, headers[i], sizeof(headers[i]));
		assert_int_equal(read_file_of(&file, &dump), -ENOEXEC);
		jit_dump__clear(&dump);
		byte_buffer__clear(&file);
	}
}

/* Compare with the plain way: the last of all records that has the address. */
static void test_many_overlapping_functions_are_told_apart(void **state __unused)
{
	enum { NR = 300, END = 1000 };
	struct {
		unsigned int start, size;
	} loads[NR];
	struct byte_buffer file = {};
	struct jit_dump dump;
	unsigned int seed = 1;

	put_header(&file);
	for (int i = 0; i < NR; i++) {
		char name[16];

		loads[i].start = rand_r(&seed) % END;
		loads[i].size = rand_r(&seed) % 60;
		snprintf(name, sizeof(name), "f%d", i);
		put_load(&file, loads[i].start, loads[i].size, i, name);
	}
	assert_int_equal(read_file_of(&file, &dump), 0);
	for (unsigned int at = 0; at < END + 60; at++) {
		char *want = NULL;

		for (int i = NR - 1; i >= 0 && !want; i--) {
			if (at - loads[i].start < loads[i].size)
				want = xasprintf("f%d+%u :0", i, at - loads[i].start);
		}
		assert_at(&dump, at, want);
		free(want);
	}
	jit_dump__clear(&dump);
	byte_buffer__clear(&file);
}

static void test_only_a_number_makes_the_name(void **state __unused)
{
	static const char *const names[] = {"/tmp/jit-1.dump", "jit-4711.dump"};
	static const char *const others[] = {
		"/tmp/jit-.dump", "/tmp/jit-1.dumps", "/tmp/jit-1a.dump", "/tmp/xjit-1.dump", "",
		"jit-1",	  "/jit-1.dump/x"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_true(jit_dump__is_name(names[i], strlen(names[i])));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(jit_dump__is_name(others[i], strlen(others[i])));
	assert_false(jit_dump__is_name("jit-1.dump", 9));
}

struct codes {
	int nr;
	char text[200]; /* "start-end bytes" of each */
	const struct byte_buffer *file;
};

static void take_code(void *ctx, uint64_t start, uint64_t end, uint64_t code)
{
	struct codes *codes = ctx;
	size_t len = strlen(codes->text);

	codes->nr++;
	snprintf(codes->text + len, sizeof(codes->text) - len, "%x-%x %.8s\n", (int)start, (int)end,
		 codes->file->data + code);
}

static void test_code_is_found_by_name(void **state __unused)
{
	struct byte_buffer file = {};
	struct codes codes = {.file = &file};
	struct jit_dump dump;

	put_header(&file);
	put_load(&file, 0x1000, 8, 1, "one");
	put_load(&file, 0x2000, 8, 2, "one");
	put_load(&file, 0x3000, 9, 3, "one"); /* longer than its code */
	put_load(&file, 0x4000, 8, 4, "one"); /* replaced from the begin on */
	put_load(&file, 0x3fff, 8, 5, "other");
	put_load(&file, 0x5000, 8, 6, "one"); /* replaced at the end */
	put_load(&file, 0x5006, 8, 7, "other");
	put_move(&file, 0x6000, 8, 1);
	assert_int_equal(read_file_of(&file, &dump), 0);
	jit_dump__find_name(&dump, "one", take_code, &codes);
	assert_string_equal(codes.text, "1000-1008 code....\n2000-2008 code....\n"
					"5000-5006 code....\n6000-6008 code....\n");
	jit_dump__find_name(&dump, "nowhere", take_code, &codes);
	assert_int_equal(codes.nr, 4);
	jit_dump__clear(&dump);
	byte_buffer__clear(&file);
}

static void test_functions_are_put_into_another_file(void **state __unused)
{
	struct byte_buffer file = {}, lines = {}, copy = {};
	struct codes codes = {.file = &copy};
	int fd = memfd_create("jit.dump", MFD_CLOEXEC);
	uint64_t ends[] = {0, 0, 0, 0};
	struct jit_dump dump = {};

	put_header(&file);
	put_line(&lines, 0x1000, 10, "a.lang");
	put_line(&lines, 0x1004, 11, "\xff");
	put_line(&lines, 0x1005, 5, "b.lang");
	put_line(&lines, 0x1007, 6, "b.lang"); /* behind the end, below */
	put_lines(&file, 0x1000, &lines);
	put_load(&file, 0x1000, 8, 1, "one");
	put_load(&file, 0x1006, 8, 2, "two");
	put_load(&file, 0x1006, 4, 3, "three"); /* "two" has lost its begin */
	put_load(&file, 0x2000, 9, 4, "longer than its code");
	put_move(&file, 0x3000, 8, 2);
	assert_int_equal(write(fd, file.data, file.len), file.len);
	assert_int_equal(jit_dump__read(fd, &dump), 0);
	put_header(&copy);
	assert_int_equal(jit_dump__put(&dump, fd, 0x1005, &ends[0], &copy), 0);
	assert_int_equal(jit_dump__put(&dump, fd, 0x100b, &ends[1], &copy), 0);
	assert_int_equal(jit_dump__put(&dump, fd, 0x2001, &ends[2], &copy), 0);
	assert_int_equal(jit_dump__put(&dump, fd, 0x3007, &ends[3], &copy), 0);
	assert_int_equal(jit_dump__put(&dump, fd, 0x4000, &ends[3], &copy), 0);
	assert_memory_equal(ends, ((uint64_t[]){0x1006, 0x100e, 0x2009, 0x3008}), sizeof(ends));
	jit_dump__clear(&dump);
	assert_int_equal(read_file_of(&copy, &dump), 0);
	assert_at(&dump, 0x1003, "one+3 a.lang:10");
	assert_at(&dump, 0x1004, "one+4 a.lang:11");
	assert_at(&dump, 0x1005, "one+5 b.lang:5");
	for (uint64_t address = 0x1006; address < 0x3000; address++)
		assert_at(&dump, address, NULL);
	assert_at(&dump, 0x3001, "two+1 :0");
	assert_at(&dump, 0x3008, NULL);
	jit_dump__find_name(&dump, "one", take_code, &codes);
	jit_dump__find_name(&dump, "two", take_code, &codes);
	/* the code up to where it was cut off, and then the next record */
	assert_memory_equal(codes.text, "1000-1006 code..", 16);
	assert_non_null(strstr(codes.text, "3000-3008 code....\n"));
	jit_dump__clear(&dump);
	byte_buffer__clear(&copy);
	byte_buffer__clear(&lines);
	byte_buffer__clear(&file);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_functions_are_found_by_address),
		cmocka_unit_test(test_the_last_function_at_an_address_counts),
		cmocka_unit_test(test_a_function_is_found_where_it_was_moved),
		cmocka_unit_test(test_lines_are_of_the_function_behind_them),
		cmocka_unit_test(test_a_record_that_is_not_complete_is_left_out),
		cmocka_unit_test(test_sizes_that_cannot_be_end_the_reading),
		cmocka_unit_test(test_other_files_are_refused),
		cmocka_unit_test(test_many_overlapping_functions_are_told_apart),
		cmocka_unit_test(test_only_a_number_makes_the_name),
		cmocka_unit_test(test_code_is_found_by_name),
		cmocka_unit_test(test_functions_are_put_into_another_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

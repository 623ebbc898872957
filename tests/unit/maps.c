// SPDX-License-Identifier: GPL-2.0
/* Mappings of a process, and the lines of maps that tell them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/lib/util.h"
#include "util/symbol/maps.h"

static void insert(struct maps **maps, uint64_t start, uint64_t end, int image)
{
	const struct map_range range = {start, end, start * 0x10, image};

	assert_int_equal(maps__insert(maps, &range), 0);
}

/* Return: all mappings as "START-END:IMAGE@OFFSET", owned by the caller. */
static char *text_of(const struct maps *maps)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	for (int i = 0; i < maps->nr; i++)
		fprintf(file, "%s%" PRIx64 "-%" PRIx64 ":%d@%" PRIx64, i ? " " : "",
			maps->ranges[i].start, maps->ranges[i].end, maps->ranges[i].image,
			maps->ranges[i].offset);
	fclose(file);
	return text;
}

static void assert_maps(const struct maps *maps, const char *want)
{
	char *text = text_of(maps);

	assert_string_equal(text, want);
	free(text);
}

static void test_a_new_mapping_replaces_what_it_overlaps(void **state __unused)
{
	struct maps *maps = maps__new();

	insert(&maps, 0x10, 0x20, 1);
	insert(&maps, 0x30, 0x40, 2);
	assert_maps(maps, "10-20:1@100 30-40:2@300");
	insert(&maps, 0x14, 0x18, 3); /* in the middle */
	assert_maps(maps, "10-14:1@100 14-18:3@140 18-20:1@108 30-40:2@300");
	insert(&maps, 0x12, 0x38, 4); /* over several */
	assert_maps(maps, "10-12:1@100 12-38:4@120 38-40:2@308");
	insert(&maps, 0x0, 0x50, 5);
	assert_maps(maps, "0-50:5@0");
	insert(&maps, 0x60, 0x60, 6); /* empty */
	assert_maps(maps, "0-50:5@0");
	maps__put(maps);
}

/* Otherwise the time for the records of a compiler that maps memory often would grow with their square. */
static void test_memory_without_a_file_takes_no_place(void **state __unused)
{
	struct maps *parent = maps__new(), *child;

	insert(&parent, 0x5, 0x8, -1);
	insert(&parent, 0x10, 0x20, 1);
	insert(&parent, 0x40, 0x50, 2);
	child = maps__get(parent);
	insert(&child, 0x0, 0x10, -1);
	insert(&child, 0x20, 0x40, -1);
	insert(&child, 0x50, 0x60, -1);
	assert_ptr_equal(child, parent);
	insert(&child, 0x18, 0x48, -1);
	assert_maps(child, "10-18:1@100 48-50:2@408");
	assert_maps(parent, "10-20:1@100 40-50:2@400");
	insert(&child, 0x0, 0x60, -1);
	assert_maps(child, "");
	maps__put(child);
	maps__put(parent);
}

static void test_a_shared_set_of_mappings_is_copied_before_a_change(void **state __unused)
{
	struct maps *parent = maps__new(), *child;

	insert(&parent, 0x10, 0x20, 1);
	child = maps__get(parent);
	insert(&child, 0x20, 0x30, 2);
	assert_maps(parent, "10-20:1@100");
	assert_maps(child, "10-20:1@100 20-30:2@200");
	maps__put(child);
	maps__put(parent);
}

static void test_an_address_is_found_in_its_mapping_only(void **state __unused)
{
	struct maps *maps = maps__new();

	insert(&maps, 0x10, 0x20, 1);
	insert(&maps, 0x30, 0x40, 2);
	assert_null(maps__find(maps, 0xf));
	assert_int_equal(maps__find(maps, 0x10)->image, 1);
	assert_int_equal(maps__find(maps, 0x1f)->image, 1);
	assert_null(maps__find(maps, 0x20));
	assert_int_equal(maps__find(maps, 0x3f)->image, 2);
	assert_null(maps__find(maps, 0x40));
	maps__put(maps);
}

static void test_a_line_of_maps_has_blanks_in_paths_and_marks_deleted_files(void **state __unused)
{
	static const char text[] = "55d0-55e0 r-xp 00001000 fe:01 1234    /opt/my app/x (deleted)\n"
				   "7ff0-7ff8 rwxp 00000000 00:00 0 \n"
				   "broken\n"
				   "7ffc000-7ffd000 r--p 00000000 00:00 0   [vvar]";
	struct map_line line;
	const char *next;

	assert_true(map_line__parse(text, &line, &next));
	assert_int_equal(line.start, 0x55d0);
	assert_int_equal(line.end, 0x55e0);
	assert_int_equal(line.offset, 0x1000);
	assert_int_equal(line.major, 0xfe);
	assert_int_equal(line.minor, 1);
	assert_int_equal(line.inode, 1234);
	assert_true(line.is_code);
	assert_true(line.is_deleted);
	assert_int_equal(line.path_len, strlen("/opt/my app/x"));
	assert_memory_equal(line.path, "/opt/my app/x", line.path_len);
	assert_true(map_line__parse(next, &line, &next));
	assert_int_equal(line.path_len, 0);
	assert_false(map_line__parse(next, &line, &next));
	assert_true(map_line__parse(next, &line, &next));
	assert_false(line.is_code);
	assert_int_equal(*next, '\0');
}

/* Otherwise the time for a text of many lines would grow with its square. */
static void test_nothing_behind_a_line_of_maps_is_read(void **state __unused)
{
	static const char text[] = "55d0-55e0 r-xp 00001000 fe:01 1234    /opt/x\n";
	size_t page = sysconf(_SC_PAGESIZE), len = strlen(text);
	char *pages =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct map_line line;
	const char *next;

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_return_code(mprotect(pages + page, page, PROT_NONE), errno);
	memcpy(pages + page - len, text, len);
	assert_true(map_line__parse(pages + page - len, &line, &next));
	assert_int_equal(line.path_len, strlen("/opt/x"));
	assert_ptr_equal(next, pages + page);
	munmap(pages, 2 * page);
}

static const char *const wrong_lines[] = {
	"",
	"1000",
	"1000-2000",
	"1000-2000 r-xp",
	"1000-2000 r-x 0 0:0 1 /short",
	"1000-2000 r-xps 0 0:0 1 /long",
	"1000-2000 r-xp 0 0:0",
	"1000-2000 r-xp 0 0 1 /x",
	"1000-2000 r-xp 0 0:0 1f /x",
	"1000-2000 r-xp 0 0:0 f /x",
	"1000- 2000 r-xp 0 0:0 1 /x",
	"-1000-2000 r-xp 0 0:0 1 /x",
	"1000-\n2000 r-xp 0 0:0 1 /x",
	"1000-2000 r-xp 0 0:0\n1 /x",
};

static void test_a_line_of_another_form_is_no_mapping(void **state __unused)
{
	for (size_t i = 0; i < ARRAY_SIZE(wrong_lines); i++) {
		struct map_line line;
		const char *next, *text = wrong_lines[i];

		assert_false(map_line__parse(text, &line, &next));
		assert_ptr_equal(next, text + strcspn(text, "\n") + (strchr(text, '\n') != NULL));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_new_mapping_replaces_what_it_overlaps),
		cmocka_unit_test(test_memory_without_a_file_takes_no_place),
		cmocka_unit_test(test_a_shared_set_of_mappings_is_copied_before_a_change),
		cmocka_unit_test(test_an_address_is_found_in_its_mapping_only),
		cmocka_unit_test(test_a_line_of_maps_has_blanks_in_paths_and_marks_deleted_files),
		cmocka_unit_test(test_nothing_behind_a_line_of_maps_is_read),
		cmocka_unit_test(test_a_line_of_another_form_is_no_mapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

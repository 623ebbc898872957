// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include "event_data.h"
#include "util/host/cpumap.h"

static void lists_are_read_and_written(void **state)
{
	static const struct {
		const char *list, *text; /* NULL: refused */
	} rows[] = {
		{"0", "0"},
		{"0-3", "0-3"},
		{"3,1", "1,3"},
		{"0,1,2,7", "0-2,7"},
		{"0-3,6\n", "0-3,6"},
		{"5-5", "5"},
		{"", NULL},
		{"\n", NULL},
		{"a", NULL},
		{"1,", NULL},
		{",1", NULL},
		{"3-1", NULL},
		{"1-", NULL},
		{"-1", NULL},
		{"1,1", NULL},
		{"0-3,2", NULL},
		{"0, 1", NULL},
		{" 0", NULL},
		{"0 ", NULL},
		{"0x1", NULL},
		{"99999999999", NULL},
		{"0-4294967295", NULL},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cpumap *map = cpumap__parse(rows[i].list);
		char *text;

		if (!rows[i].text) {
			if (map || errno != EINVAL)
				fail_msg("'%s' was taken", rows[i].list);
			continue;
		}
		assert_non_null(map);
		text = cpumap__str(map);
		assert_string_equal(text, rows[i].text);
		free(text);
		cpumap__delete(map);
	}
}

static void sets_are_combined(void **state)
{
	static const struct {
		const char *a, *b, *both, *minus, *either;
	} rows[] = {
		{"0-3", "2-5", "2-3", "0-1", "0-5"},
		{"0-3", "4", "", "0-3", "0-4"},
		{"1,3", "1,3", "1,3", "", "1,3"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cpumap *a = cpumap__parse(rows[i].a), *b = cpumap__parse(rows[i].b);
		struct cpumap *maps[] = {cpumap__and(a, b), cpumap__minus(a, b), cpumap__or(a, b)};
		const char *const wanted[] = {rows[i].both, rows[i].minus, rows[i].either};
		size_t j;

		for (j = 0; j < ARRAY_SIZE(maps); j++) {
			char *text = cpumap__str(maps[j]);

			assert_string_equal(text, wanted[j]);
			free(text);
			cpumap__delete(maps[j]);
		}
		cpumap__delete(a);
		cpumap__delete(b);
	}
}

static void maps_answer_questions(void **state)
{
	struct cpumap *map = cpumap__parse("1,4-6"), *copy = cpumap__dup(map);
	struct cpumap *empty = cpumap__new(NULL, 0);

	(void)state;
	assert_true(cpumap__has(map, 5));
	assert_false(cpumap__has(map, 2));
	assert_int_equal(cpumap__idx(map, 6), 3);
	assert_int_equal(cpumap__idx(map, 7), -1);
	assert_int_equal(cpumap__max(map), 6);
	assert_int_equal(cpumap__max(empty), -1);
	assert_true(cpumap__equal(map, copy));
	assert_false(cpumap__equal(map, empty));
	assert_false(cpumap__is_any(map));
	assert_true(cpumap__is_any(cpumap__any()));
	assert_ptr_equal(cpumap__dup(cpumap__any()), cpumap__any());
	cpumap__delete(cpumap__any());
	assert_int_equal(cpumap__any()->cpu[0], -1);
	cpumap__delete(map);
	cpumap__delete(copy);
	cpumap__delete(empty);
	cpumap__delete(NULL);
}

static void refusals_have_a_reason(void **state)
{
	static const struct {
		const char *list, *why;
	} rows[] = {
		{"0-3,x", "not a list of CPUs such as 0-3,6"},
		{"3-1", "not a list of CPUs such as 0-3,6"},
		{"0-3,2", "CPU 2 is there twice"},
		{"7,7", "CPU 7 is there twice"},
		{"0-99999999999", "the number of a CPU is too large: 65535 at most"},
		{"65536", "the number of a CPU is too large: 65535 at most"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		char *why = cpumap__why_refused(rows[i].list);

		assert_null(cpumap__parse(rows[i].list));
		assert_string_equal(why, rows[i].why);
		free(why);
	}
}

static void sysfs_says_which_cpus_there_are(void **state)
{
	char *sysfs = data_path("sysfs-x86");
	struct cpumap *online, *possible, *present;

	(void)state;
	setenv("SYSFS_PATH", sysfs, 1);
	online = cpumap__online();
	possible = cpumap__possible();
	present = cpumap__present();
	assert_int_equal(online->nr, 36);
	assert_int_equal(possible->nr, 72);
	assert_true(cpumap__equal(online, present));
	unsetenv("SYSFS_PATH");
	cpumap__delete(online);
	cpumap__delete(possible);
	cpumap__delete(present);
	free(sysfs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_read_and_written),
		cmocka_unit_test(sets_are_combined),
		cmocka_unit_test(maps_answer_questions),
		cmocka_unit_test(refusals_have_a_reason),
		cmocka_unit_test(sysfs_says_which_cpus_there_are),
	};

	return cmocka_run_group_tests_name("cpumap", tests, NULL, NULL);
}

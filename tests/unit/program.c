// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "said.h"
#include "util/lib/msg.h"
#include "util/lib/program.h"
#include "util/lib/util.h"

static void name_is_the_last_part_of_the_path(void **state)
{
	static const struct {
		const char *path, *name;
	} rows[] = {
		{"perf", "perf"},
		{"/usr/bin/bperf", "bperf"},
		{"./perf_6.1", "perf_6.1"},
		{"../b+perf-2", "b+perf-2"},
		{"abcdefghijklmnopqrstuvwxyz012345", "abcdefghijklmnopqrstuvwxyz012345"},
		{"abcdefghijklmnopqrstuvwxyz0123456", "perf"},
		{NULL, "perf"},
		{"", "perf"},
		{"/usr/bin/", "perf"},
		{"-bperf", "perf"},
		{"b perf", "perf"},
		{"bperf\033[31m", "perf"},
		{"%s", "perf"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		program__init("other");
		program__init(rows[i].path);
		assert_string_equal(program__name(), rows[i].name);
	}
}

static void texts_get_the_name(void **state)
{
	static const struct {
		const char *lines, *renamed;
	} rows[] = {
		{"perf", "bperf"},
		{"perf stat [<options>]", "bperf stat [<options>]"},
		{"perf stat\n    or: perf stat record perf.data\n",
		 "bperf stat\n    or: bperf stat record perf.data\n"},
		{" perf\n\nperf\n", " bperf\n\nbperf\n"},
		{"perf.data", "perf.data"},
		{"events: perf list; (perf top) or 'perf stat'",
		 "events: bperf list; (bperf top) or 'bperf stat'"},
		{"in this perf.data, for perf, of superperf or /usr/bin/perf",
		 "in this perf.data, for perf, of superperf or /usr/bin/perf"},
		{"perf perf perf", "bperf bperf bperf"},
		{"perfperf perf", "perfperf bperf"},
		{"bperf stat", "bperf stat"},
		{"", ""},
	};

	(void)state;
	program__init("bperf");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *renamed = program__rename(rows[i].lines);

		assert_string_equal(renamed, rows[i].renamed);
		free(renamed);
	}
}

static void messages_begin_with_the_name(void **state)
{
	struct said capture;
	char *said;

	(void)state;
	said__begin(&capture);
	program__init("bperf");
	msg__init("perf stat");
	pr_err("no");
	program__init("perf");
	pr_err("no");
	msg__init("perfect");
	pr_err("no");
	said = said__end(&capture);
	assert_string_equal(said, "bperf stat: no\nperf stat: no\nperfect: no\n");
	free(said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(name_is_the_last_part_of_the_path),
		cmocka_unit_test(texts_get_the_name),
		cmocka_unit_test(messages_begin_with_the_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

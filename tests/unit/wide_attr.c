// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "util/host/wide_attr.h"
#include "util/lib/util.h"

static void the_size_reaches_to_the_last_word_in_use(void **state __unused)
{
	static const struct {
		uint64_t words[NR_MORE_CONFIG];
		size_t size;
	} rows[] = {
		{{0, 0}, sizeof(struct perf_event_attr)},
		{{1, 0}, MORE_CONFIG_OFFSET + 8},
		{{0, 1}, MORE_CONFIG_OFFSET + 16},
		{{1, 1}, MORE_CONFIG_OFFSET + 16},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		union wide_attr wide = {};

		memcpy(wide.bytes + MORE_CONFIG_OFFSET, rows[i].words, sizeof(rows[i].words));
		wide_attr__set_size(&wide);
		/* Newer headers have the first word, or both. */
		if (rows[i].size > sizeof(wide.attr))
			assert_int_equal(wide.attr.size, rows[i].size);
		else
			assert_int_equal(wide.attr.size, sizeof(wide.attr));
	}
}

static void a_word_behind_the_size_is_0(void **state __unused)
{
	static const uint64_t words[NR_MORE_CONFIG] = {3, 4};
	union wide_attr wide = {};

	memcpy(wide.bytes + MORE_CONFIG_OFFSET, words, sizeof(words));
	for (int i = 0; i < NR_MORE_CONFIG; i++) {
		wide.attr.size = MORE_CONFIG_OFFSET + 8 * (i + 1);
		assert_int_equal(wide_attr__more(&wide.attr, i), words[i]);
		wide.attr.size--;
		assert_int_equal(wide_attr__more(&wide.attr, i), 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_size_reaches_to_the_last_word_in_use),
		cmocka_unit_test(a_word_behind_the_size_is_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/lib/blob_set.h"
#include "util/lib/util.h"

static void test_equal_strings_have_one_number(void **state __unused)
{
	struct blob_set set = {};
	size_t len;

	assert_int_equal(blob_set__find(&set, "one", 3), -ENOENT);
	assert_int_equal(blob_set__add(&set, "one", 3), 0);
	assert_int_equal(blob_set__find(&set, "one", 3), 0);
	assert_int_equal(blob_set__find(&set, "two", 3), -ENOENT);
	assert_int_equal(blob_set__add(&set, "two", 3), 1);
	assert_int_equal(blob_set__add(&set, "one", 3), 0);
	assert_int_equal(blob_set__add(&set, "one", 2), 2);
	assert_int_equal(blob_set__add(&set, "", 0), 3);
	assert_int_equal(blob_set__add(&set, "a\0b", 3), 4);
	assert_int_equal(blob_set__add(&set, "a\0c", 3), 5);
	assert_memory_equal(blob_set__get(&set, 4, &len), "a\0b", 3);
	assert_int_equal(len, 3);
	assert_int_equal(set.nr, 6);
	blob_set__clear(&set);
	assert_int_equal(blob_set__add(&set, "two", 3), 0);
	blob_set__clear(&set);
}

static void test_many_strings_stay_where_they_are_found(void **state __unused)
{
	struct blob_set set = {};

	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 100000; i++) {
			const uint64_t key[] = {i, i * i, 0};

			assert_int_equal(blob_set__add(&set, key, 8 + i % 17), i);
		}
	}
	for (int i = 0; i < 100000; i++) {
		size_t len;
		const char *data = blob_set__get(&set, i, &len);

		assert_int_equal(len, 8 + i % 17);
		assert_int_equal((uintptr_t)data % 8, 0);
		assert_int_equal(*(const uint64_t *)data, i);
	}
	blob_set__clear(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_strings_have_one_number),
		cmocka_unit_test(test_many_strings_stay_where_they_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "util/lib/util.h"
#include "util/symbol/nested_ranges.h"

static void test_the_innermost_range_is_found(void **state __unused)
{
	struct nested_ranges set = {};

	assert_int_equal(nested_ranges__add(&set, 10, 100, 0), 0);
	assert_int_equal(nested_ranges__add(&set, 20, 40, 1), 0);
	assert_int_equal(nested_ranges__add(&set, 20, 30, 2), 0);
	assert_int_equal(nested_ranges__add(&set, 60, 70, 1), 0);
	assert_int_equal(nested_ranges__add(&set, 200, 201, 3), 0);
	nested_ranges__sort(&set);
	assert_int_equal(nested_ranges__find(&set, 9), -1);
	assert_int_equal(nested_ranges__find(&set, 10), 0);
	assert_int_equal(nested_ranges__find(&set, 29), 2);
	assert_int_equal(nested_ranges__find(&set, 30), 1);
	assert_int_equal(nested_ranges__find(&set, 40), 0);
	assert_int_equal(nested_ranges__find(&set, 69), 1);
	assert_int_equal(nested_ranges__find(&set, 99), 0);
	assert_int_equal(nested_ranges__find(&set, 100), -1);
	assert_int_equal(nested_ranges__find(&set, 200), 3);
	free(set.ranges);
}

static void test_of_equal_ranges_the_larger_owner_is_inside(void **state __unused)
{
	struct nested_ranges set = {};

	assert_int_equal(nested_ranges__add(&set, 10, 20, 5), 0);
	assert_int_equal(nested_ranges__add(&set, 10, 20, 4), 0);
	nested_ranges__sort(&set);
	assert_int_equal(nested_ranges__find(&set, 15), 5);
	free(set.ranges);
}

static void test_an_empty_range_has_no_address(void **state __unused)
{
	struct nested_ranges set = {};

	assert_int_equal(nested_ranges__add(&set, 10, 10, 0), 0);
	assert_int_equal(nested_ranges__add(&set, 10, 9, 0), 0);
	nested_ranges__sort(&set);
	assert_int_equal(nested_ranges__find(&set, 10), -1);
	assert_null(set.ranges);
}

/* Ranges from a hostile file may overlap in any way: what is found has the address. */
static void test_ranges_that_overlap_are_found_if_they_have_the_address(void **state __unused)
{
	enum { NR = 200, END = 1000 };
	struct nested_ranges set = {};
	uint64_t starts[NR], ends[NR];

	srandom(1);
	for (int i = 0; i < NR; i++) {
		starts[i] = random() % END;
		ends[i] = starts[i] + random() % 50;
		assert_int_equal(nested_ranges__add(&set, starts[i], ends[i], i), 0);
	}
	nested_ranges__sort(&set);
	for (uint64_t address = 0; address < END; address++) {
		int owner = nested_ranges__find(&set, address);

		assert_true(owner < NR);
		if (owner >= 0)
			assert_in_range(address, starts[owner], ends[owner] - 1);
	}
	free(set.ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_innermost_range_is_found),
		cmocka_unit_test(test_of_equal_ranges_the_larger_owner_is_inside),
		cmocka_unit_test(test_an_empty_range_has_no_address),
		cmocka_unit_test(test_ranges_that_overlap_are_found_if_they_have_the_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

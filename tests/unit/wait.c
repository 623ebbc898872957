// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/lib/util.h"
#include "util/run/wait.h"

static void the_earlier_of_two_times_counts_and_0_is_none(void **state __unused)
{
	assert_int_equal(earliest(2, 3), 2);
	assert_int_equal(earliest(3, 2), 2);
	assert_int_equal(earliest(2, 2), 2);
	assert_int_equal(earliest(0, 3), 3);
	assert_int_equal(earliest(3, 0), 3);
	assert_int_equal(earliest(0, 0), 0);
}

static void only_a_time_that_has_come_is_due(void **state __unused)
{
	uint64_t now_ns = clock_ns();

	assert_false(is_due(0));
	assert_true(is_due(1));
	assert_true(is_due(now_ns));
	assert_false(is_due(now_ns + 3600 * NSEC_PER_SEC));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_earlier_of_two_times_counts_and_0_is_none),
		cmocka_unit_test(only_a_time_that_has_come_is_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
#include "util/counter/window.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct window window;
static struct counts_values count;

static int set_up(void **state)
{
	(void)state;
	window = (struct window){};
	count = (struct counts_values){};
	return 0;
}

/* A value of @val whose event was enabled twice that long, and on the PMU as long. */
static int account(enum window_moment moment, uint64_t val)
{
	const struct counts_values now = {val, 2 * val, val};

	return window__account(&window, moment, &now, &count);
}

static void expect(uint64_t val)
{
	assert_int_equal(count.value, val);
	assert_int_equal(count.enabled_ns, 2 * val);
	assert_int_equal(count.running_ns, val);
}

static void only_windows_count(void **state)
{
	(void)state;
	assert_int_equal(account(WINDOW_NONE, 50), 0);
	assert_int_equal(account(WINDOW_BEGIN, 100), 0);
	expect(0);
	assert_int_equal(account(WINDOW_READ, 103), 0);
	expect(3);
	assert_int_equal(account(WINDOW_END, 107), 0);
	assert_int_equal(account(WINDOW_NONE, 200), 0);
	expect(7);
	assert_int_equal(account(WINDOW_BEGIN, 300), 0);
	assert_int_equal(account(WINDOW_END, 310), 0);
	expect(17);
}

static void a_window_without_a_base_begins_late(void **state)
{
	(void)state;
	account(WINDOW_BEGIN, 10);
	account(WINDOW_READ, 15);
	window__forget(&window);
	account(WINDOW_READ, 20);
	expect(5);
	account(WINDOW_READ, 22);
	expect(7);
}

static void a_value_that_goes_back_begins_anew(void **state)
{
	(void)state;
	account(WINDOW_BEGIN, 10);
	account(WINDOW_READ, 15);
	assert_int_equal(account(WINDOW_READ, 3), -ERANGE);
	expect(5);
	assert_int_equal(account(WINDOW_END, 4), 0);
	expect(6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(only_windows_count, set_up),
		cmocka_unit_test_setup(a_window_without_a_base_begins_late, set_up),
		cmocka_unit_test_setup(a_value_that_goes_back_begins_anew, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "util/lib/util.h"
#include "util/profile/comm_cache.h"

/* No thread has numbers from here on. */
#define NO_TID 5000000

static void test_a_name_is_read_once(void **state __unused)
{
	struct comm_cache cache = {};
	pid_t self = getpid();

	assert_int_equal(comm_cache__set(&cache, NO_TID, "before"), 0);
	assert_int_equal(prctl(PR_SET_NAME, "first"), 0);
	assert_string_equal(comm_cache__get(&cache, self, self), "first");
	assert_int_equal(prctl(PR_SET_NAME, "second"), 0);
	assert_string_equal(comm_cache__get(&cache, self, self), "first");
	assert_string_equal(comm_cache__get(&cache, NO_TID, NO_TID), "before");
	assert_string_equal(comm_cache__get(&cache, NO_TID, NO_TID + 1), "[unknown]");
	assert_string_equal(comm_cache__get(&cache, 0, 0), "swapper");
	comm_cache__clear(&cache);
}

static void test_a_new_thread_has_the_name_of_its_maker(void **state __unused)
{
	struct comm_cache cache = {};

	assert_int_equal(comm_cache__set(&cache, NO_TID, "maker"), 0);
	assert_int_equal(comm_cache__set(&cache, NO_TID + 1, "earlier"), 0);
	assert_int_equal(comm_cache__fork(&cache, NO_TID + 1, NO_TID), 0);
	assert_string_equal(comm_cache__get(&cache, NO_TID, NO_TID + 1), "maker");
	assert_string_equal(comm_cache__get(&cache, NO_TID, NO_TID), "maker");
	/* The name of an earlier thread of this number is not kept. */
	assert_int_equal(comm_cache__fork(&cache, NO_TID + 1, NO_TID + 2), 0);
	assert_string_equal(comm_cache__get(&cache, NO_TID, NO_TID + 1), "[unknown]");
	/* The idle tasks are not named. */
	assert_int_equal(comm_cache__set(&cache, 0, "idle"), 0);
	assert_string_equal(comm_cache__get(&cache, 0, 0), "swapper");
	comm_cache__clear(&cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_name_is_read_once),
		cmocka_unit_test(test_a_new_thread_has_the_name_of_its_maker),
	};

	return cmocka_run_group_tests_name("comm_cache", tests, NULL, NULL);
}

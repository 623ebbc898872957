// SPDX-License-Identifier: GPL-2.0
/* Profilers found by shared maps: util/target/bpf_profilers.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/target/bpf_profilers.h"

static void add(struct bpf_profilers *profilers, __u32 id, __u32 first, __u32 second,
		bool is_counting)
{
	const __u32 maps[] = {first, second};

	assert_int_equal(bpf_profilers__add(profilers, id, maps, !!first + !!second, is_counting),
			 0);
}

static void profilers_spread_over_shared_maps(void **state)
{
	struct bpf_profilers profilers = {};

	(void)state;
	add(&profilers, 1, 10, 11, false); /* shares a map with 4, which shares one with 3 */
	add(&profilers, 2, 20, 21, false);
	add(&profilers, 3, 12, 13, true);
	add(&profilers, 4, 13, 10, false);
	add(&profilers, 5, 21, 0, false); /* shares a map with 2, which does not count */
	add(&profilers, 6, 0, 0, false);
	add(&profilers, 7, 0, 0, true);
	bpf_profilers__spread(&profilers);
	for (__u32 id = 1; id <= 8; id++)
		assert_int_equal(bpf_profilers__is_counting(&profilers, id),
				 id == 1 || id == 3 || id == 4 || id == 7);
	bpf_profilers__clear(&profilers);
	assert_int_equal(profilers.nr, 0);
}

static void empty_set_has_no_profiler(void **state)
{
	struct bpf_profilers profilers = {};

	(void)state;
	bpf_profilers__spread(&profilers);
	assert_false(bpf_profilers__is_counting(&profilers, 1));
	bpf_profilers__clear(&profilers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(profilers_spread_over_shared_maps),
		cmocka_unit_test(empty_set_has_no_profiler),
	};

	return cmocka_run_group_tests_name("bpf_profilers", tests, NULL, NULL);
}

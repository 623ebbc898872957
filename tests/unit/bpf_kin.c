// SPDX-License-Identifier: GPL-2.0
/* Programs that share maps with programs that count: util/bpf_kin.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/bpf_kin.h"

static void add(struct bpf_kin *kin, __u32 id, __u32 first, __u32 second, bool is_counting)
{
	const __u32 maps[] = { first, second };

	assert_int_equal(bpf_kin__add(kin, id, maps, !!first + !!second, is_counting), 0);
}

static void who_shares_a_map_with_one_that_counts_is_one(void **state)
{
	struct bpf_kin kin = {};

	(void)state;
	add(&kin, 1, 10, 11, false);	/* with 3, through 4 */
	add(&kin, 2, 20, 21, false);
	add(&kin, 3, 12, 13, true);
	add(&kin, 4, 13, 10, false);
	add(&kin, 5, 21, 0, false);	/* with 2, which does not count */
	add(&kin, 6, 0, 0, false);
	add(&kin, 7, 0, 0, true);
	bpf_kin__spread(&kin);
	for (__u32 id = 1; id <= 8; id++)
		assert_int_equal(bpf_kin__is_counting(&kin, id), id == 1 || id == 3 || id == 4 || id == 7);
	bpf_kin__clear(&kin);
	assert_int_equal(kin.nr, 0);
}

static void nobody_counts_where_nobody_is(void **state)
{
	struct bpf_kin kin = {};

	(void)state;
	bpf_kin__spread(&kin);
	assert_false(bpf_kin__is_counting(&kin, 1));
	bpf_kin__clear(&kin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_shares_a_map_with_one_that_counts_is_one),
		cmocka_unit_test(nobody_counts_where_nobody_is),
	};

	return cmocka_run_group_tests_name("bpf_kin", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* The parts of a callchain, and values of user space that look like marks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/lib/util.h"
#include "util/profile/callchain.h"
#include "util/sample/sample_types.h"

#define KERNEL ((uint64_t)PERF_CONTEXT_KERNEL)
#define USER   ((uint64_t)PERF_CONTEXT_USER)

static const struct row {
	const char *what;
	uint64_t ips[8];
	int nr, nr_kernel, nr_user;
	uint64_t kernel, user; /* the first frames */
} rows[] = {
	{"both parts", {KERNEL, 1, 2, USER, 3}, 5, 2, 1, 1, 3},
	{"the kernel alone", {KERNEL, 1}, 2, 1, 0, 1, 0},
	{"user space alone", {USER, 3, 4}, 3, 0, 2, 0, 3},
	{"no frame", {}, 0, 0, 0, 0, 0},
	{"a mark without frames", {KERNEL, USER}, 2, 0, 0, 0, 0},
	{"another mark first", {(uint64_t)PERF_CONTEXT_HV, 9, USER, 3}, 4, 0, 1, 0, 3},
	{"a forged mark of the kernel", {USER, 3, KERNEL, 5, USER, 6}, 6, 0, 1, 0, 3},
	{"forged behind a stack of the kernel", {KERNEL, 1, USER, 3, KERNEL, 5}, 6, 1, 1, 1, 3},
	{"forged as the first frame", {KERNEL, 1, USER, KERNEL, 5}, 5, 1, 0, 1, 0},
	{"a value without a meaning", {USER, 3, -1ULL, 5}, 4, 0, 1, 0, 3},
};

static void user_space_cannot_forge_a_part(void **state __unused)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];
		struct sample_entry entry = {};

		print_message("%s\n", row->what);
		callchain__split(row->ips, row->nr, &entry);
		assert_int_equal(entry.nr_kernel, row->nr_kernel);
		assert_int_equal(entry.nr_user, row->nr_user);
		if (row->nr_kernel)
			assert_int_equal(entry.kernel_ips[0], row->kernel);
		if (row->nr_user)
			assert_int_equal(entry.user_ips[0], row->user);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(user_space_cannot_forge_a_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

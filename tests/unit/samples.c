// SPDX-License-Identifier: GPL-2.0
/* Sums of samples, with a limit for their memory: util/profile/samples.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "util/profile/samples.h"
#include "util/sample/sampler.h"

static int add(struct samples *samples, int cpu)
{
	const struct sample_entry entry = {.comm = "a", .cpu = cpu, .nr_samples = 2, .weight = 30};

	return samples__add(samples, &entry);
}

static void samples_without_room_are_refused_and_others_go_on(void **state)
{
	struct samples samples = {.key = SAMPLE_CPU, .max_bytes = 100 * sizeof(struct samples_key)};

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(add(&samples, i), 0);
	for (int round = 0; round < 2; round++) {
		assert_int_equal(add(&samples, 100), -ENOMEM);
		assert_int_equal(samples.keys.nr, 100);
		assert_int_equal(add(&samples, 99), 0);
		assert_int_equal(samples.last, 99);
	}
	assert_int_equal(samples.sums[99].nr, 6);
	assert_int_equal(samples.sums[99].weight, 90);
	samples__reset(&samples);
	/* There is room again for the next interval. */
	assert_int_equal(add(&samples, 100), 0);
	samples__reset(&samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_without_room_are_refused_and_others_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

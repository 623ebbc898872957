// SPDX-License-Identifier: GPL-2.0
/* The modes of a CPU. */
#include "bpf_skel/leader.h"
#include "util/bperf/leader.h"
#include "util/bperf/leader_internal.h"
#include "util/lib/util.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_each_reason_makes_programs_careful(void **state __unused)
{
	struct cpu_state *cpu = calloc(1, sizeof(*cpu));
	struct bperf_leader leader = {.nr_cpus = 1, .cpus = cpu};

	assert_non_null(cpu);
	bperf_leader__set_cpu_mode(&leader, 0, MODE_SERVE, true);
	assert_int_equal(cpu->mode, MODE_SERVE);
	bperf_leader__set_cpu_mode(&leader, 0, MODE_FOREIGN, true);
	bperf_leader__set_cpu_mode(&leader, 0, MODE_DEAD, true);
	bperf_leader__set_cpu_mode(&leader, 0, MODE_FOREIGN, false);
	assert_int_equal(cpu->mode, MODE_SERVE | MODE_DEAD | MODE_CAREFUL);
	bperf_leader__set_cpu_mode(&leader, 0, MODE_DEAD, false);
	assert_int_equal(cpu->mode, MODE_SERVE);
	free(cpu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_reason_makes_programs_careful),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0
/* For how long CPUs have been idle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/host/cpu_idle.h"
#include "util/lib/util.h"

#define TICK_NS (NSEC_PER_SEC / sysconf(_SC_CLK_TCK))

/* Read such a /proc/stat; NULL: there is none. */
static int read_text(const char *text, uint64_t *idle_ns, int nr)
{
	char dir[] = "/tmp/cpu_idle.XXXXXX";
	char *path = NULL;
	FILE *file;
	int err;

	assert_non_null(mkdtemp(dir));
	path = xasprintf("%s/stat", dir);
	assert_non_null(path);
	file = text ? fopen(path, "w") : NULL;
	if (file)
		assert_true(fputs(text, file) >= 0 && !fclose(file));
	setenv("PROCFS_PATH", dir, 1);
	err = cpu_idle__read(idle_ns, nr);
	unsetenv("PROCFS_PATH");
	unlink(path);
	free(path);
	assert_int_equal(rmdir(dir), 0);
	return err;
}

static void each_cpu_has_its_time(void **state __unused)
{
	uint64_t idle_ns[4] = {1, 2, 3, 4};

	/* CPU 1 is offline, and CPU 9 came later. */
	assert_int_equal(read_text("cpu  1 2 3 4 5 6 7 8 9 10\n"
				   "cpu0 10 20 30 400 50 60 70 80 90 100\n"
				   "cpu2 10 20 30 7 0 60\n"
				   "cpu3 10 20\n"
				   "cpu9 1 1 1 1 1 1\n"
				   "intr 10 1 1\ncpu1 1 1 1 1 1\n",
				   idle_ns, 4),
			 0);
	assert_int_equal(idle_ns[0], 450 * TICK_NS);
	assert_int_equal(idle_ns[1], 0);
	assert_int_equal(idle_ns[2], 7 * TICK_NS);
	assert_int_equal(idle_ns[3], 0);
}

static void without_the_file_nothing_is_known(void **state __unused)
{
	uint64_t idle_ns[2] = {1, 2};

	assert_int_equal(read_text(NULL, idle_ns, 2), -ENOENT);
	assert_int_equal(idle_ns[0] | idle_ns[1], 0);
}

static void time_passes_between_two_known_times(void **state __unused)
{
	assert_int_equal(cpu_idle__between(5, 12), 7);
	assert_int_equal(cpu_idle__between(5, 5), 0);
	assert_int_equal(cpu_idle__between(0, 12), -1);
	assert_int_equal(cpu_idle__between(12, 0), -1);
	assert_int_equal(cpu_idle__between(12, 5), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cpu_has_its_time),
		cmocka_unit_test(without_the_file_nothing_is_known),
		cmocka_unit_test(time_passes_between_two_known_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

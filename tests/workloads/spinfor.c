// SPDX-License-Identifier: GPL-2.0
/*
 * spinfor SECONDS: keep one CPU busy until CLOCK_MONOTONIC has advanced that far.
 * SECONDS may have a fraction. Under QEMU, CPUs take turns of up to 100 ms, and a spinning CPU would
 * delay each wait of another CPU by as much. The hint makes turns short. The kernel sees no difference:
 * the hint is not a system call, and the task never leaves its CPU.
 */
#include "workload.h"
#include <time.h>

static double now(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_MONOTONIC, &ts))
		die("clock_gettime");
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void let_other_cpus_run(void)
{
#if defined(__aarch64__)
	asm volatile("yield");
#elif defined(__x86_64__)
	asm volatile("pause");
#endif
}

int main(int argc, char **argv)
{
	double end, seconds;
	char *rest;

	usage_unless(argc == 2, "SECONDS");
	seconds = strtod(argv[1], &rest);
	usage_unless(rest != argv[1] && !*rest && seconds >= 0, "SECONDS");
	for (end = now() + seconds; now() < end;) {
		spin(5000);
		let_other_cpus_run();
	}
	return 0;
}

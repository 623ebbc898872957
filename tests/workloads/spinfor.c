// SPDX-License-Identifier: GPL-2.0
/*
 * spinfor SECONDS: keeps one CPU busy until CLOCK_MONOTONIC has advanced that far.
 * SECONDS may have a fraction.
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

int main(int argc, char **argv)
{
	double end, seconds;
	char *rest;

	usage_unless(argc == 2, "SECONDS");
	seconds = strtod(argv[1], &rest);
	usage_unless(rest != argv[1] && !*rest && seconds >= 0, "SECONDS");
	for (end = now() + seconds; now() < end;)
		spin(1000);
	return 0;
}

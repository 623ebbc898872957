// SPDX-License-Identifier: GPL-2.0
/*
 * ran SECONDS PID...: wait until each of these processes has executed for that long from now on.
 * SECONDS may have a fraction. A window that ends so has the same work on a busy machine.
 */
#include "workload.h"
#include <time.h>

/* Return: the seconds for which the process of this clock has executed. */
static double executed(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts))
		die("a process has ended");
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const struct timespec moment = {.tv_nsec = 5000000};
	clockid_t *clocks;
	double *ends, seconds;
	char *rest;

	usage_unless(argc >= 3, "SECONDS PID...");
	seconds = strtod(argv[1], &rest);
	usage_unless(rest != argv[1] && !*rest && seconds >= 0, "SECONDS PID...");
	clocks = calloc(argc, sizeof(*clocks));
	ends = calloc(argc, sizeof(*ends));
	if (!clocks || !ends)
		die("calloc");
	for (int i = 2; i < argc; i++) {
		errno = clock_getcpuclockid(number(argc, argv, i, 0), &clocks[i]);
		if (errno)
			die("%s", argv[i]);
		ends[i] = executed(clocks[i]) + seconds;
	}
	for (int i = 2; i < argc; i++)
		while (executed(clocks[i]) < ends[i])
			nanosleep(&moment, NULL);
	return 0;
}

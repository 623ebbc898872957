// SPDX-License-Identifier: GPL-2.0
/*
 * switches [-r] N: give up the CPU N times by sleeping. Each sleep takes 1 millisecond, so that the timer
 * cannot fire before the task has left the CPU. N voluntary context switches + a constant, whatever
 * else runs. With -r, print on standard error how often another task has preempted it.
 */
#include "workload.h"
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static long preemptions(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage))
		die("getrusage");
	return usage.ru_nivcsw;
}

int main(int argc, char **argv)
{
	struct timespec ts = {.tv_nsec = 1000000};
	long before = preemptions();
	bool prints = argc == 3 && !strcmp(argv[1], "-r");
	unsigned long n;

	usage_unless(argc == 2 || prints, "[-r] N");
	for (n = number(argc, argv, argc - 1, 0); n; n--)
		if (nanosleep(&ts, NULL))
			die("nanosleep");
	if (prints)
		fprintf(stderr, "%ld\n", preemptions() - before);
	return 0;
}

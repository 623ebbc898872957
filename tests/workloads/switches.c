// SPDX-License-Identifier: GPL-2.0
/*
 * switches N: give up the CPU N times by sleeping. Each sleep takes 1 millisecond, so that the timer
 * cannot fire before the task has left the CPU. N voluntary context switches + a constant, whatever
 * else runs.
 */
#include "workload.h"
#include <time.h>

int main(int argc, char **argv)
{
	struct timespec ts = {.tv_nsec = 1000000};
	unsigned long n;

	usage_unless(argc == 2, "N");
	for (n = number(argc, argv, 1, 0); n; n--)
		if (nanosleep(&ts, NULL))
			die("nanosleep");
	return 0;
}

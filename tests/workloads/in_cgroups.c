// SPDX-License-Identifier: GPL-2.0
/*
 * in_cgroups ITER PROCS...: start a process for each of these cgroup.procs files, all at once. Each
 * moves to its cgroup, executes 2 * ITER instructions in ten parts with a yield after each, and ends.
 */
#include "workload.h"
#include <sched.h>

#define PARTS 10

static void work(const char *procs, unsigned long iter)
{
	FILE *out = fopen(procs, "w");

	if (!out || fprintf(out, "0") < 0 || fclose(out))
		die("%s", procs);
	for (int i = 0; i < PARTS; i++) {
		spin(iter / PARTS);
		sched_yield();
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned long iter;

	usage_unless(argc > 2, "ITER PROCS...");
	iter = number(argc, argv, 1, 0);
	for (int i = 2; i < argc; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			work(argv[i], iter);
	}
	for (int i = 2; i < argc; i++)
		reap(-1);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * tree DEPTH FANOUT ITER: make a tree of processes. Each spins ITER times, forks FANOUT children at
 * the same time, and waits for them, down to DEPTH levels below the first (0: the first alone).
 * 1 + FANOUT + FANOUT^2 + ... + FANOUT^DEPTH processes.
 */
#include "workload.h"

#define MAX_FANOUT 64

static void grow(unsigned long depth, unsigned long fanout, unsigned long iter)
{
	pid_t pids[MAX_FANOUT];
	unsigned long i;

	spin(iter);
	if (!depth)
		return;
	for (i = 0; i < fanout; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			die("fork");
		if (!pids[i]) {
			grow(depth - 1, fanout, iter);
			_exit(0);
		}
	}
	for (i = 0; i < fanout; i++)
		reap(pids[i]);
}

int main(int argc, char **argv)
{
	unsigned long fanout;

	usage_unless(argc == 4, "DEPTH FANOUT ITER");
	fanout = number(argc, argv, 2, 0);
	usage_unless(fanout <= MAX_FANOUT, "DEPTH FANOUT(up to 64) ITER");
	grow(number(argc, argv, 1, 0), fanout, number(argc, argv, 3, 0));
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * forks N ITER: fork N children one after the other, each of which spins ITER times.
 * Instructions in user space: 2 * N * ITER + N * a constant + a constant.
 */
#include "workload.h"

int main(int argc, char **argv)
{
	unsigned long n, iter;

	usage_unless(argc == 3, "N ITER");
	n = number(argc, argv, 1, 0);
	iter = number(argc, argv, 2, 0);
	spin_in_children(n, iter);
	return 0;
}

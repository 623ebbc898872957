// SPDX-License-Identifier: GPL-2.0
/*
 * spin N: execute N iterations of a loop of 2 instructions, and nothing else.
 * Instructions in user space: 2 * N + a constant (start and exit). The constant depends on the length
 * of the number, because the program parses and copies its command line.
 */
#include "workload.h"

int main(int argc, char **argv)
{
	usage_unless(argc == 2, "N");
	spin(number(argc, argv, 1, 0));
	return 0;
}

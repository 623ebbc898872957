// SPDX-License-Identifier: GPL-2.0
/*
 * spin N: N iterations of a loop of 2 instructions, and nothing else.
 * Prints nothing. Instructions in user space: 2 * N + a constant (start and exit), which is
 * the same for numbers of the same length: the command line is parsed and copied.
 */
#include "workload.h"

int main(int argc, char **argv)
{
	usage_unless(argc == 2, "N");
	spin(number(argc, argv, 1, 0));
	return 0;
}

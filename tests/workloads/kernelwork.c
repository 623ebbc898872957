// SPDX-License-Identifier: GPL-2.0
/*
 * kernelwork N: make N cheap system calls (getppid), so that most instructions run in the kernel.
 */
#include "workload.h"
#include <sys/syscall.h>

int main(int argc, char **argv)
{
	unsigned long n;

	usage_unless(argc == 2, "N");
	for (n = number(argc, argv, 1, 0); n; n--)
		syscall(SYS_getppid);
	return 0;
}

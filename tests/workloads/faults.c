// SPDX-License-Identifier: GPL-2.0
/*
 * faults N: touch N fresh pages of memory: N minor page faults + a constant.
 */
#include "workload.h"
#include <sys/mman.h>

int main(int argc, char **argv)
{
	unsigned long n, i, page = sysconf(_SC_PAGESIZE);
	char *p;

	usage_unless(argc == 2, "N");
	n = number(argc, argv, 1, 0);
	if (!n)
		return 0;
	p = mmap(NULL, n * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		die("mmap");
	/* Huge pages would mean fewer faults. A kernel without them refuses the advice. */
	madvise(p, n * page, MADV_NOHUGEPAGE);
	for (i = 0; i < n; i++)
		((volatile char *)p)[i * page] = 1;
	return 0;
}

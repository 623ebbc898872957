// SPDX-License-Identifier: GPL-2.0
/*
 * brood N PAGES: N children, each of which touches so many fresh pages and ends. The first is released
 * when the last has ended, so all of them are there at the same time.
 */
#include "workload.h"
#include <signal.h>
#include <sys/mman.h>

static void touch(char *memory, unsigned long size, unsigned long page)
{
	/* Huge pages would mean fewer faults; a kernel without them refuses the advice. */
	madvise(memory, size, MADV_NOHUGEPAGE);
	for (unsigned long i = 0; i < size; i += page)
		((volatile char *)memory)[i] = 1;
}

int main(int argc, char **argv)
{
	unsigned long n, size, page = sysconf(_SC_PAGESIZE);
	char *memory;

	usage_unless(argc == 3, "N PAGES");
	n = number(argc, argv, 1, 0);
	size = number(argc, argv, 2, 0) * page;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		die("mmap");
	for (unsigned long i = 0; i < n; i++) {
		pid_t pid = fork();
		siginfo_t info;

		if (pid < 0)
			die("fork");
		if (!pid) {
			touch(memory, size, page);
			_exit(0);
		}
		if (waitid(P_PID, pid, &info, WEXITED | WNOWAIT))
			die("waitid");
	}
	while (n--)
		reap(-1);
	return 0;
}

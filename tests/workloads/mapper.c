// SPDX-License-Identifier: GPL-2.0
/*
 * mapper code|data [TIMES]: map a page of this program's file again and again, and print the nanoseconds
 * that most calls of mmap() take. Run it at a real-time priority.
 */
#include "workload.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>

static unsigned long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000UL + now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const unsigned long *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static unsigned long map(int fd, int prot)
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned long before = now_ns(), after;
	void *memory = mmap(NULL, page, prot, MAP_PRIVATE, fd, 0);

	after = now_ns();
	if (memory == MAP_FAILED || munmap(memory, page))
		die("mapping");
	return after - before;
}

int main(int argc, char **argv)
{
	unsigned long times = number(argc, argv, 2, 400), *ns;
	int fd, prot = PROT_READ;

	usage_unless(argc >= 2 && argc <= 3 && times, "code|data [TIMES]");
	if (!strcmp(argv[1], "code"))
		prot |= PROT_EXEC;
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ns = calloc(times, sizeof(*ns));
	if (fd < 0 || !ns)
		die("file");
	for (unsigned long i = 0; i < times; i++)
		ns[i] = map(fd, prot);
	qsort(ns, times, sizeof(*ns), compare);
	printf("%lu\n", ns[times / 2]);
	return 0;
}

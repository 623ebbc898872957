// SPDX-License-Identifier: GPL-2.0
/*
 * roam PAGES: print "ready". For each line of input, visit all CPUs in turn, and touch PAGES fresh pages on each.
 * Then a second thread does the same with 2 * PAGES. Print "done". Both threads sleep between lines.
 */
#include "workload.h"
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/mman.h>

static cpu_set_t all;
static sem_t begin, end;

static void touch(unsigned long nr_pages)
{
	unsigned long i, page = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, nr_pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	/* Huge pages would mean fewer faults. A kernel without them refuses the advice. */
	madvise(p, nr_pages * page, MADV_NOHUGEPAGE);
	for (i = 0; i < nr_pages; i++)
		((volatile char *)p)[i * page] = 1;
	munmap(p, nr_pages * page);
}

static void visit_all(unsigned long nr_pages)
{
	cpu_set_t one;
	int cpu;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			die("CPU %d", cpu);
		touch(nr_pages);
	}
}

static void *second(void *nr_pages)
{
	for (;;) {
		sem_wait(&begin);
		visit_all(2 * *(unsigned long *)nr_pages);
		sem_post(&end);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long nr_pages;
	pthread_t thread;
	char line[16];

	usage_unless(argc == 2, "PAGES");
	nr_pages = number(argc, argv, 1, 0);
	if (sched_getaffinity(0, sizeof(all), &all))
		die("CPUs");
	sem_init(&begin, 0, 0);
	sem_init(&end, 0, 0);
	errno = pthread_create(&thread, NULL, second, &nr_pages);
	if (errno)
		die("cannot start a thread");
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		visit_all(nr_pages);
		sem_post(&begin);
		sem_wait(&end);
		puts("done");
	}
	return 0;
}

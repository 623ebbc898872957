// SPDX-License-Identifier: GPL-2.0
/*
 * cgroup_churn N ITER DIR [SUB]: N times, make a cgroup DIR/wI, and DIR/wI/SUB in it. A process moves
 * to the innermost one, executes 2 * ITER instructions, touches ten pages and ends. Then remove both.
 */
#include "workload.h"
#include <sys/stat.h>

static void make(const char *dir)
{
	if (mkdir(dir, 0755))
		die("mkdir %s", dir);
}

/* Remove a cgroup; wait until its last process has left it. */
static void take_away(const char *dir)
{
	while (rmdir(dir)) {
		if (errno != EBUSY)
			die("rmdir %s", dir);
		usleep(100);
	}
}

#define PAGES	   10
#define PAGE_BYTES 65536 /* the largest page size */

/* The parent never touches these pages, so each process has a fault for each. */
static char pages[PAGES * PAGE_BYTES];

static void work(const char *dir, unsigned long iter)
{
	char procs[4096];
	FILE *out;

	snprintf(procs, sizeof(procs), "%s/cgroup.procs", dir);
	out = fopen(procs, "w");
	if (!out || fprintf(out, "0") < 0 || fclose(out))
		die("%s", procs);
	spin(iter);
	for (int i = 0; i < PAGES; i++)
		*(volatile char *)&pages[i * PAGE_BYTES] = 1;
	_exit(0);
}

int main(int argc, char **argv)
{
	char dir[2048], sub[2304];
	unsigned long nr, iter;

	usage_unless(argc == 4 || argc == 5, "N ITER DIR [SUB]");
	nr = number(argc, argv, 1, 0);
	iter = number(argc, argv, 2, 0);
	for (unsigned long i = 0; i < nr; i++) {
		pid_t pid;

		snprintf(dir, sizeof(dir), "%s/w%lu", argv[3], i);
		snprintf(sub, sizeof(sub), "%s/%s", dir, argc > 4 ? argv[4] : "");
		make(dir);
		if (argc > 4)
			make(sub);
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid)
			work(argc > 4 ? sub : dir, iter);
		reap(pid);
		if (argc > 4)
			take_away(sub);
		take_away(dir);
	}
	return 0;
}

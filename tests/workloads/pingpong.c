// SPDX-License-Identifier: GPL-2.0
/*
 * pingpong [-t] N [PROCS PROCS]: two processes on one CPU (the first allowed) send one byte back and forth N
 * times. Each byte waits for the other process: 2 * N context switches, give or take a few at
 * start and end (fork, wait).
 * -t: prints the nanoseconds that one switch takes, with its write and its read; what comes before
 * the first byte is not in it, and before them one tenth of N more warm up what can be warmed up.
 * PROCS: files cgroup.procs of the cgroups that the two first move to.
 */
#include "workload.h"
#include <sched.h>
#include <time.h>

static double now_ns(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_MONOTONIC, &ts))
		die("clock_gettime");
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static void send(int fd)
{
	errno = 0;
	if (write(fd, "x", 1) != 1)
		die("write");
}

static void receive(int fd)
{
	char c;

	errno = 0;
	if (read(fd, &c, 1) != 1)
		die("read");
}

static void join(const char *procs)
{
	FILE *out = fopen(procs, "w");

	if (!out || fprintf(out, "0") < 0 || fclose(out))
		die("%s", procs);
}

int main(int argc, char **argv)
{
	unsigned long n, i, warm_up = 0;
	int to[2], from[2];
	cpu_set_t cpus;
	double start = 0;
	int cpu = 0;
	pid_t pid;

	if (argc > 1 && !strcmp(argv[1], "-t")) {
		argc--, argv++;
		warm_up = 1;
	}
	usage_unless(argc == 2 || argc == 4, "[-t] N [PROCS PROCS]");
	n = number(argc, argv, 1, 0);
	if (warm_up)
		warm_up = n / 10 + 1;
	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		die("sched_getaffinity");
	while (!CPU_ISSET(cpu, &cpus))
		cpu++;
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity");
	if (pipe(to) || pipe(from))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (argc == 4)
		join(pid ? argv[2] : argv[3]);
	for (i = 0; i < n + warm_up; i++) {
		if (i == warm_up)
			start = now_ns();
		if (pid) {
			send(to[1]);
			receive(from[0]);
		} else {
			receive(to[0]);
			send(from[1]);
		}
	}
	if (!pid)
		_exit(0);
	if (warm_up)
		printf("%.1f\n", (now_ns() - start) / (2.0 * n));
	reap(pid);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * pingpong N: two processes on one CPU (the first allowed) send one byte back and forth N times.
 * Each byte waits for the other process: 2 * N context switches, give or take a few at start
 * and end (fork, wait).
 */
#include "workload.h"
#include <sched.h>

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

int main(int argc, char **argv)
{
	unsigned long n, i;
	int to[2], from[2];
	cpu_set_t cpus;
	int cpu = 0;
	pid_t pid;

	usage_unless(argc == 2, "N");
	n = number(argc, argv, 1, 0);
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
	for (i = 0; i < n; i++) {
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
	reap(pid);
	return 0;
}

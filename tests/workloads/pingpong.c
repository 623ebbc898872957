// SPDX-License-Identifier: GPL-2.0
/*
 * pingpong [-t|-r] N [PROCS PROCS]: let two processes on one CPU (the first allowed) send one byte back
 * and forth N times. Each byte waits for the other process: 2 * N context switches, give or take a few
 * at start and end (fork, wait).
 * -t: print "ready" and the two pids. Then, for each line of standard input, play, and print the
 * nanoseconds that one switch takes, with its write and its read: the fewest in one of 15 equal parts of
 * the game, since a tick of the kernel costs as much as several switches. Before each game, a tenth of N
 * rounds warms up caches. The program ends with its input.
 * -r: at the end, print on standard error the context switches of both since the start, by getrusage(): the
 * last one of the second process may be missing.
 * PROCS: the cgroup.procs files of the cgroups that the two first move to.
 */
#include "workload.h"
#include <sched.h>
#include <sys/resource.h>
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

static void play(unsigned long n, int to, int from)
{
	while (n--) {
		send(to);
		receive(from);
	}
}

/* Return: nanoseconds of one switch, in that part of the game in which it took the fewest. */
static double least_ns(unsigned long n, int to, int from)
{
	const unsigned long parts = 15, each = n / parts + 1;
	double least = 0;

	for (unsigned long part = 0; part < parts; part++) {
		double start = now_ns(), ns;

		play(each, to, from);
		ns = (now_ns() - start) / (2.0 * each);
		if (!part || ns < least)
			least = ns;
	}
	return least;
}

/* Answer until the other end is closed. */
static void answer(int to, int from)
{
	char c;

	errno = 0;
	while (read(from, &c, 1) == 1)
		send(to);
	if (errno)
		die("read");
	_exit(0);
}

/* Return: the context switches of this process and of its children that have ended. */
static long switches(void)
{
	struct rusage own, children;

	if (getrusage(RUSAGE_SELF, &own) || getrusage(RUSAGE_CHILDREN, &children))
		die("getrusage");
	return own.ru_nvcsw + own.ru_nivcsw + children.ru_nvcsw + children.ru_nivcsw;
}

int main(int argc, char **argv)
{
	unsigned long n, timed = 0, reported = 0;
	long before = switches();
	int to[2], from[2];
	cpu_set_t cpus;
	char line[80];
	int cpu = 0;
	pid_t pid;

	if (argc > 1 && !strcmp(argv[1], "-t")) {
		argc--, argv++;
		timed = 1;
	} else if (argc > 1 && !strcmp(argv[1], "-r")) {
		argc--, argv++;
		reported = 1;
	}
	usage_unless(argc == 2 || argc == 4, "[-t|-r] N [PROCS PROCS]");
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
	if (argc == 4)
		join(pid ? argv[2] : argv[3]);
	if (!pid) {
		close(to[1]);
		answer(from[1], to[0]);
	}
	if (timed) {
		printf("ready %d %d\n", getpid(), pid);
		fflush(stdout);
		while (fgets(line, sizeof(line), stdin)) {
			play(n / 10 + 1, to[1], from[0]);
			printf("%.1f\n", least_ns(n, to[1], from[0]));
			fflush(stdout);
		}
	} else {
		play(n, to[1], from[0]);
	}
	close(to[1]);
	reap(pid);
	if (reported)
		fprintf(stderr, "%ld\n", switches() - before);
	return 0;
}

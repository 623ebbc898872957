/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers of all workloads: a loop of known length, numbers from the command line, die(). */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define die(...)                                                                                   \
	do {                                                                                       \
		int errno_ = errno;                                                                \
		fprintf(stderr, "%s: ", program_invocation_short_name);                            \
		fprintf(stderr, __VA_ARGS__);                                                      \
		if (errno_)                                                                        \
			fprintf(stderr, ": %s", strerror(errno_));                                 \
		fputc('\n', stderr);                                                               \
		exit(1);                                                                           \
	} while (0)

/* Execute exactly 2 * n instructions: n times subtract, branch. */
static inline void spin(unsigned long n)
{
	if (!n)
		return;
#if defined(__aarch64__)
	asm volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
#elif defined(__x86_64__)
	asm volatile("1: subq $1, %0\n\tjnz 1b" : "+r"(n) : : "cc");
#else
	do
		asm volatile("" : "+r"(n));
	while (--n);
#endif
}

/* Return: the n-th argument as a number, or @fallback. Not inline, because main() may vfork(). */
__attribute__((noinline, unused)) static unsigned long number(int argc, char **argv, int n,
							      unsigned long fallback)
{
	unsigned long value;
	char *end;

	if (n >= argc)
		return fallback;
	errno = 0;
	value = strtoul(argv[n], &end, 0);
	if (errno || end == argv[n] || *end || argv[n][0] == '-')
		die("not a number: '%s'", argv[n]);
	return value;
}

static inline void usage_unless(int ok, const char *arguments)
{
	if (ok)
		return;
	fprintf(stderr, "usage: %s %s\n", program_invocation_short_name, arguments);
	exit(2);
}

/* Wait for a child, and die unless it exited with 0. */
static inline void reap(pid_t pid)
{
	int status;

	errno = 0;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	errno = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		die("child %d ended with wait status %#x", pid, status);
}

/* Fork children one after the other, each of which spins. */
static inline void spin_in_children(unsigned long nr, unsigned long iter)
{
	while (nr--) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			spin(iter);
			_exit(0);
		}
		reap(pid);
	}
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SOAK_STAMP_H
#define SOAK_STAMP_H

/* A moment of a process: the clock, and how long the process has run or waited for a CPU. */

#include "workload.h"

#include <fcntl.h>
#include <signal.h>
#include <time.h>

#define SOAK_CHILDREN 4

struct soak_stamp {
	unsigned long long clock_ns;
	unsigned long long cpu_ns;     /* 0 if the kernel does not provide it */
	pid_t pid;		       /* the process */
	pid_t children[SOAK_CHILDREN]; /* its children so far */
};

static inline unsigned long long soak_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Take a stamp, without stdio, so that each one has the same page faults. */
static inline void soak_stamp(struct soak_stamp *stamp, pid_t pid)
{
	char path[64], text[128], *end;
	ssize_t len;
	int fd;

	stamp->cpu_ns = 0;
	stamp->pid = pid;
	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (len > 0) {
		text[len] = '\0';
		stamp->cpu_ns = strtoull(text, &end, 10);
		stamp->cpu_ns += strtoull(end, NULL, 10);
	}
	if (fd >= 0)
		close(fd);
	stamp->clock_ns = soak_clock();
}

#endif

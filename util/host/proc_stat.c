// SPDX-License-Identifier: GPL-2.0
#include "util/host/proc_stat.h"

#include "util/lib/util.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The kernel's first priority that is none of real time. /proc has the difference to it. */
#define MAX_RT_PRIO 100

uint64_t proc_stat__ticks_ns(uint64_t ticks)
{
	return ticks * (NSEC_PER_SEC / sysconf(_SC_CLK_TCK));
}

int proc_stat__read(pid_t pid, struct proc_stat *stat)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/%d/stat", procfs_root(), pid);
	char *text __cleanup(free_ptr) = path ? read_file(path, NULL) : NULL;
	unsigned long long user, sys, start;
	const char *rest;
	int priority;

	if (!text)
		return -errno;
	/* The name may contain parentheses: other fields start behind the last one, with field 3. */
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest,
			    ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %d "
			    "%*d %*d %*d %llu",
			    &stat->state, &user, &sys, &priority, &start) != 5)
		return -EINVAL;
	stat->prio = priority + MAX_RT_PRIO;
	stat->user_ns = proc_stat__ticks_ns(user);
	stat->sys_ns = proc_stat__ticks_ns(sys);
	stat->start_ns = proc_stat__ticks_ns(start);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_PROC_STAT_H
#define PERF_HOST_PROC_STAT_H

/* The numbers of a process or thread in /proc/PID/stat: proc_pid_stat(5). */

#include <stdint.h>
#include <sys/types.h>

struct proc_stat {
	char state; /* 'R', 'S', 'Z', ... */
	int prio;   /* as in the kernel: 120 is nice 0, below 100 is real time */
	/* Rounded down to clock ticks. */
	uint64_t user_ns;  /* time in user mode */
	uint64_t sys_ns;   /* time in the kernel */
	uint64_t start_ns; /* of the clock that runs also while the machine is suspended */
};

/**
 * proc_stat__read() - read them, below procfs_root()
 * @pid: a process, or any thread
 *
 * Return: 0; -ENOENT or -ESRCH: there is none; other -errno.
 */
int proc_stat__read(pid_t pid, struct proc_stat *stat);

/* Nanoseconds of a number of clock ticks, in which /proc counts. */
uint64_t proc_stat__ticks_ns(uint64_t ticks);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_THREAD_MAP_H
#define PERF_UTIL_THREAD_MAP_H

#include <sys/types.h>

struct bpf_targets;

/* The threads of a task target, in scan order. */
struct thread_map {
	int nr;
	struct {
		pid_t tid;	/* -1: all tasks (CPU targets) */
		char comm[16];
		const char *name;	/* of a BPF program, whose id is tid; borrowed. NULL: a thread */
	} thread[];
};

/**
 * thread_map__new_pids() - all threads of the processes in a comma list
 * thread_map__new_tids() - the threads in a comma list
 * thread_map__new_all() - every thread in /proc
 * thread_map__new_one() - just this one, e.g. a held workload
 *
 * thread_map__new_progs() - not threads, but BPF programs: their ids and names, rows all the same
 *
 * Return: NULL with errno EINVAL (bad list), ESRCH (no such process), ENOMEM.
 */
struct thread_map *thread_map__new_pids(const char *list);
struct thread_map *thread_map__new_tids(const char *list);
struct thread_map *thread_map__new_all(void);
struct thread_map *thread_map__new_one(pid_t tid);
struct thread_map *thread_map__new_progs(const struct bpf_targets *targets);
void thread_map__delete(struct thread_map *map);

#endif

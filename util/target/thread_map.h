/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TARGET_THREAD_MAP_H
#define PERF_TARGET_THREAD_MAP_H

/* Lists of threads, or of BPF programs in their place. */

#include <stdbool.h>
#include <sys/types.h>

struct bpf_prog_list;

/* In the order of the search. */
struct thread_map {
	int nr;
	struct {
		pid_t tid; /* -1: all tasks (CPU progs) */
		char comm[16];
		const char *name; /* of a BPF program, whose id is tid; borrowed. NULL: a thread */
		bool is_left_out; /* a BPF program that cannot be counted: has no row */
		bool is_over;	  /* a BPF program that has ended: has no row in later intervals */
	} thread[];
};

/**
 * thread_map__new_pids() - all threads of the processes in a comma list
 * thread_map__new_left() - the same of those processes that still exist
 * thread_map__new_tids() - the threads in a comma list
 * thread_map__new_all() - every thread in /proc
 * thread_map__new_one() - a single thread, e.g. a held workload
 * thread_map__new_progs() - ids and names of BPF programs in place of threads
 *
 * Return: NULL with errno EINVAL (bad list), ESRCH (no such process), ENOMEM.
 */
struct thread_map *thread_map__new_pids(const char *list);
struct thread_map *thread_map__new_left(const char *list);
struct thread_map *thread_map__new_tids(const char *list);
struct thread_map *thread_map__new_all(void);
struct thread_map *thread_map__new_one(pid_t tid);
struct thread_map *thread_map__new_progs(const struct bpf_prog_list *progs);

/**
 * thread_map__update_progs() - update the map after the list of programs changed
 *
 * Return: 0 or -ENOMEM: rows for new programs are missing, the others are up to date.
 */
int thread_map__update_progs(struct thread_map **map, const struct bpf_prog_list *progs);

void thread_map__delete(struct thread_map *map);

#endif

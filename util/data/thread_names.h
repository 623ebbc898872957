/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_THREAD_NAMES_H
#define PERF_DATA_THREAD_NAMES_H

/* The names of threads, as the records up to now leave them. */

#include "util/lib/id_map.h"

#include <stdint.h>

struct thread_name {
	char text[16];
};

/* All zero: none. */
struct thread_names {
	struct id_map nrs;
	struct thread_name *names;
	int nr;
};

/** thread_names__set() - name a thread, with at most 15 bytes. Return: 1; 0: it has that name; -ENOMEM */
int thread_names__set(struct thread_names *names, int32_t pid, int32_t tid, const char *name);

/** thread_names__get() - the name of a thread, until the next is named; NULL: none */
const struct thread_name *thread_names__get(const struct thread_names *names, int32_t pid,
					    int32_t tid);
void thread_names__clear(struct thread_names *names);

#endif

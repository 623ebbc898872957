/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_PRIO_CACHE_H
#define PERF_PROFILE_PRIO_CACHE_H

/* Priorities of threads, from /proc. The kernel puts none into ring buffers. */

#include "util/lib/id_map.h"

#include <sys/types.h>

struct prio_cache {
	struct id_map by_tid;
	struct {
		int prio;
		unsigned int round;
	} * prios;
	int nr;
	unsigned int round;
};

/** prio_cache__begin() - a round begins; each thread is read once in it */
void prio_cache__begin(struct prio_cache *cache);

/**
 * prio_cache__get() - the kernel's priority of a thread in this round
 *
 * Return: the last one that was read, if the thread has ended; SAMPLE_PRIO_UNKNOWN if there is none.
 */
int prio_cache__get(struct prio_cache *cache, pid_t tid);

/** prio_cache__forget() - a new thread has this number */
void prio_cache__forget(struct prio_cache *cache, pid_t tid);

void prio_cache__clear(struct prio_cache *cache);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_COMM_CACHE_H
#define PERF_PROFILE_COMM_CACHE_H

/* Names of threads, from records of the kernel or from /proc. */

#include "util/lib/id_map.h"

#include <stdbool.h>
#include <sys/types.h>

struct comm_cache {
	struct id_map by_tid;
	struct cached_comm {
		char text[16];
		bool is_early; /* from before the kernel told of changes: /proc knows better, as long as it can */
	} * comms;
	int nr;
};

/** comm_cache__set() - a thread has a name from now on; 0 or -ENOMEM */
int comm_cache__set(struct comm_cache *cache, pid_t tid, const char *comm);

/** comm_cache__note() - a thread had a name before the kernel told of changes; 0 or -ENOMEM */
int comm_cache__note(struct comm_cache *cache, pid_t tid, const char *comm);

/** comm_cache__fork() - a new thread has the name of the one that made it; 0 or -ENOMEM */
int comm_cache__fork(struct comm_cache *cache, pid_t tid, pid_t parent_tid);

/** comm_cache__get() - the name of a thread, borrowed; reads /proc once if no record had it. "[unknown]": not to be had */
const char *comm_cache__get(struct comm_cache *cache, pid_t pid, pid_t tid);

void comm_cache__clear(struct comm_cache *cache);

#endif

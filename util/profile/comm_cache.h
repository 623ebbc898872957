/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_COMM_CACHE_H
#define PERF_PROFILE_COMM_CACHE_H

/* Names of threads, from records of the kernel or from /proc. */

#include "util/lib/id_map.h"

#include <sys/types.h>

struct cached_comm {
	pid_t tid;
	char text[16];
};

struct comm_cache {
	struct id_map by_tid;
	struct cached_comm *comms;
	int nr;
};

/** comm_cache__set() - a thread has a name from now on; 0 or -ENOMEM */
int comm_cache__set(struct comm_cache *cache, pid_t tid, const char *comm);

/** comm_cache__refresh() - read the names of all known threads again, as far as these still exist */
void comm_cache__refresh(struct comm_cache *cache);

/** comm_cache__fork() - a new thread has the name of the one that made it; 0 or -ENOMEM */
int comm_cache__fork(struct comm_cache *cache, pid_t tid, pid_t parent_tid);

/** comm_cache__get() - the name of a thread, borrowed; reads /proc once. "[unknown]": not to be had */
const char *comm_cache__get(struct comm_cache *cache, pid_t pid, pid_t tid);

void comm_cache__clear(struct comm_cache *cache);

#endif

// SPDX-License-Identifier: GPL-2.0
#include "util/profile/comm_cache.h"

#include "util/lib/array.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdio.h>

int comm_cache__set(struct comm_cache *cache, pid_t tid, const char *comm)
{
	int at = tid ? id_map__get(&cache->by_tid, tid) : -1;

	if (!tid)
		return 0;
	if (at < 0) {
		if (!array__add(cache->comms, cache->nr))
			return -ENOMEM;
		at = cache->nr - 1;
		if (id_map__set(&cache->by_tid, tid, at)) {
			cache->nr--;
			return -ENOMEM;
		}
	}
	snprintf(cache->comms[at], sizeof(cache->comms[at]), "%s", comm);
	return 0;
}

int comm_cache__fork(struct comm_cache *cache, pid_t tid, pid_t parent_tid)
{
	int at = parent_tid ? id_map__get(&cache->by_tid, parent_tid) : -1;
	char comm[16];

	if (at < 0) {
		/* An earlier thread of that number has ended. */
		if (tid)
			id_map__remove(&cache->by_tid, tid);
		return 0;
	}
	snprintf(comm, sizeof(comm), "%s", cache->comms[at]);
	return comm_cache__set(cache, tid, comm);
}

const char *comm_cache__get(struct comm_cache *cache, pid_t pid, pid_t tid)
{
	char *path __cleanup(free_ptr) = NULL;
	char *comm __cleanup(free_ptr) = NULL;
	int at;

	if (!tid)
		return "swapper";
	at = id_map__get(&cache->by_tid, tid);
	if (at >= 0)
		return cache->comms[at];
	path = xasprintf("%s/%d/task/%d/comm", procfs_root(), pid, tid);
	comm = path ? read_file_line(path) : NULL;
	if (comm_cache__set(cache, tid, comm ? comm : "[unknown]"))
		return "[unknown]";
	return cache->comms[cache->nr - 1];
}

void comm_cache__clear(struct comm_cache *cache)
{
	id_map__clear(&cache->by_tid);
	free(cache->comms);
	*cache = (struct comm_cache){};
}

// SPDX-License-Identifier: GPL-2.0
#include "util/profile/comm_cache.h"

#include "util/lib/array.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdio.h>

static int put(struct comm_cache *cache, pid_t tid, const char *comm, bool is_early)
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
	cache->comms[at].is_early = is_early;
	snprintf(cache->comms[at].text, sizeof(cache->comms[at].text), "%s", comm);
	return 0;
}

int comm_cache__set(struct comm_cache *cache, pid_t tid, const char *comm)
{
	return put(cache, tid, comm, false);
}

int comm_cache__note(struct comm_cache *cache, pid_t tid, const char *comm)
{
	return put(cache, tid, comm, true);
}

int comm_cache__fork(struct comm_cache *cache, pid_t tid, pid_t parent_tid)
{
	int at = parent_tid ? id_map__get(&cache->by_tid, parent_tid) : -1;
	struct cached_comm parent;

	if (at < 0) {
		/* An earlier thread of that number has ended. */
		if (tid)
			id_map__remove(&cache->by_tid, tid);
		return 0;
	}
	parent = cache->comms[at];
	return put(cache, tid, parent.text, parent.is_early);
}

const char *comm_cache__get(struct comm_cache *cache, pid_t pid, pid_t tid)
{
	char *path __cleanup(free_ptr) = NULL;
	char *comm __cleanup(free_ptr) = NULL;
	int at;

	if (!tid)
		return "swapper";
	at = id_map__get(&cache->by_tid, tid);
	if (at >= 0 && !cache->comms[at].is_early)
		return cache->comms[at].text;
	path = xasprintf("%s/%d/task/%d/comm", procfs_root(), pid, tid);
	comm = path ? read_file_line(path) : NULL;
	if (at >= 0 && !comm) {
		cache->comms[at].is_early = false;
		return cache->comms[at].text;
	}
	if (put(cache, tid, comm ? comm : "[unknown]", false))
		return "[unknown]";
	return cache->comms[id_map__get(&cache->by_tid, tid)].text;
}

void comm_cache__clear(struct comm_cache *cache)
{
	id_map__clear(&cache->by_tid);
	free(cache->comms);
	*cache = (struct comm_cache){};
}

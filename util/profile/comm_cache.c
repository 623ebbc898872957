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
	cache->comms[at].tid = tid;
	snprintf(cache->comms[at].text, sizeof(cache->comms[at].text), "%s", comm);
	return 0;
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
	return comm_cache__set(cache, tid, parent.text);
}

/* Return: owned by the caller; NULL: the thread has ended. */
static char *read_comm(pid_t pid, pid_t tid)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/%d/task/%d/comm", procfs_root(), pid, tid);

	return path ? read_file_line(path) : NULL;
}

/* The directory of a thread that leads no process is not listed, but it is there. */
void comm_cache__refresh(struct comm_cache *cache)
{
	for (int i = 0; i < cache->nr; i++) {
		struct cached_comm *cached = &cache->comms[i];
		char *comm __cleanup(free_ptr) = read_comm(cached->tid, cached->tid);

		if (comm)
			snprintf(cached->text, sizeof(cached->text), "%s", comm);
	}
}

const char *comm_cache__get(struct comm_cache *cache, pid_t pid, pid_t tid)
{
	char *comm __cleanup(free_ptr) = NULL;
	int at;

	if (!tid)
		return "swapper";
	at = id_map__get(&cache->by_tid, tid);
	if (at >= 0)
		return cache->comms[at].text;
	comm = read_comm(pid, tid);
	if (comm_cache__set(cache, tid, comm ? comm : "[unknown]"))
		return "[unknown]";
	return cache->comms[cache->nr - 1].text;
}

void comm_cache__clear(struct comm_cache *cache)
{
	id_map__clear(&cache->by_tid);
	free(cache->comms);
	*cache = (struct comm_cache){};
}

// SPDX-License-Identifier: GPL-2.0
#include "util/profile/prio_cache.h"

#include "util/host/proc_stat.h"
#include "util/lib/array.h"
#include "util/sample/sample_types.h"

#include <stdlib.h>

/* The idle task's, on all kernels. */
#define IDLE_PRIO 120

void prio_cache__begin(struct prio_cache *cache)
{
	cache->round++;
}

/* Return: the thread's position; -1: no memory. */
static int find(struct prio_cache *cache, pid_t tid)
{
	int at = id_map__get(&cache->by_tid, tid);

	if (at >= 0)
		return at;
	if (!array__add(cache->prios, cache->nr))
		return -1;
	at = cache->nr - 1;
	cache->prios[at].prio = SAMPLE_PRIO_UNKNOWN;
	cache->prios[at].round = cache->round - 1;
	if (!id_map__set(&cache->by_tid, tid, at))
		return at;
	cache->nr--;
	return -1;
}

int prio_cache__get(struct prio_cache *cache, pid_t tid)
{
	struct proc_stat stat;
	int at = tid ? find(cache, tid) : -1;

	if (at < 0)
		return tid ? SAMPLE_PRIO_UNKNOWN : IDLE_PRIO;
	if (cache->prios[at].round != cache->round && !proc_stat__read(tid, &stat))
		cache->prios[at].prio = stat.prio;
	cache->prios[at].round = cache->round;
	return cache->prios[at].prio;
}

void prio_cache__forget(struct prio_cache *cache, pid_t tid)
{
	int at = id_map__get(&cache->by_tid, tid);

	if (at < 0)
		return;
	cache->prios[at].prio = SAMPLE_PRIO_UNKNOWN;
	cache->prios[at].round = cache->round - 1;
}

void prio_cache__clear(struct prio_cache *cache)
{
	id_map__clear(&cache->by_tid);
	free(cache->prios);
	*cache = (struct prio_cache){};
}

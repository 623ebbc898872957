// SPDX-License-Identifier: GPL-2.0
#include "util/data/thread_names.h"

#include "util/lib/array.h"

#include <errno.h>
#include <string.h>

/* Not 0. Numbers below 0 are nobody's. */
static uint64_t id_of(int32_t pid, int32_t tid)
{
	return ((uint64_t)(pid & INT32_MAX) << 32 | (uint32_t)tid) + 1;
}

int thread_names__set(struct thread_names *names, int32_t pid, int32_t tid, const char *name)
{
	uint64_t id = id_of(pid, tid);
	int nr = id_map__get(&names->nrs, id);
	struct thread_name full = {};

	memcpy(full.text, name, strnlen(name, sizeof(full.text) - 1));
	if (nr >= 0 && !memcmp(&names->names[nr], &full, sizeof(full)))
		return 0;
	if (nr < 0) {
		nr = names->nr;
		if (!array__add(names->names, names->nr) || id_map__set(&names->nrs, id, nr))
			return -ENOMEM;
	}
	names->names[nr] = full;
	return 1;
}

const struct thread_name *thread_names__get(const struct thread_names *names, int32_t pid,
					    int32_t tid)
{
	int nr = id_map__get(&names->nrs, id_of(pid, tid));

	return nr < 0 ? NULL : &names->names[nr];
}

void thread_names__clear(struct thread_names *names)
{
	id_map__clear(&names->nrs);
	free(names->names);
	*names = (struct thread_names){};
}

// SPDX-License-Identifier: GPL-2.0
#include "util/host/prog_maps.h"

#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64

int prog_maps__read(struct prog_maps *maps, int prog_fd)
{
	uint32_t wanted = maps->max ? maps->max : FIRST_ROOM;

	maps->nr = 0;
	if (prog_fd < 0)
		return -EBADF;
	for (;;) {
		__u32 len = sizeof(maps->info);

		if (wanted > maps->max) {
			uint32_t *grown = realloc(maps->ids, wanted * sizeof(*grown));

			if (!grown)
				return -ENOMEM;
			maps->ids = grown;
			maps->max = wanted;
		}
		memset(&maps->info, 0, sizeof(maps->info));
		maps->info.map_ids = (uintptr_t)maps->ids;
		maps->info.nr_map_ids = maps->max;
		if (bpf_obj_get_info_by_fd(prog_fd, &maps->info, &len))
			return -errno;
		/* The kernel reports how many there are, and writes as many as there is room for. */
		wanted = maps->info.nr_map_ids;
		if (wanted <= maps->max)
			break;
	}
	maps->nr = wanted;
	return 0;
}

bool prog_maps__has(const struct prog_maps *maps, uint32_t id)
{
	for (uint32_t i = 0; id && i < maps->nr; i++) {
		if (maps->ids[i] == id)
			return true;
	}
	return false;
}

void prog_maps__clear(struct prog_maps *maps)
{
	free_ptr(&maps->ids);
	maps->nr = 0;
	maps->max = 0;
}

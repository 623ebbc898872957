// SPDX-License-Identifier: GPL-2.0
#include "util/target/bpf_profilers.h"

#include "util/lib/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int bpf_profilers__add(struct bpf_profilers *profilers, __u32 id, const __u32 *maps, int nr_maps,
		       bool is_counting)
{
	__u32 *copy = malloc((nr_maps + 1) * sizeof(*copy));
	struct bpf_profiler *added = copy ? array__add(profilers->prog, profilers->nr) : NULL;

	if (!added) {
		free(copy);
		return -ENOMEM;
	}
	if (nr_maps)
		memcpy(copy, maps, nr_maps * sizeof(*copy));
	*added = (struct bpf_profiler){
		.id = id,
		.maps = copy,
		.nr_maps = nr_maps,
		.is_counting = is_counting,
	};
	return 0;
}

static bool share_a_map(const struct bpf_profiler *a, const struct bpf_profiler *b)
{
	for (int i = 0; i < a->nr_maps; i++) {
		for (int j = 0; j < b->nr_maps; j++) {
			if (a->maps[i] == b->maps[j])
				return true;
		}
	}
	return false;
}

static bool shares_with_profiler(const struct bpf_profilers *profilers,
				 const struct bpf_profiler *prog)
{
	for (int i = 0; i < profilers->nr; i++) {
		if (profilers->prog[i].is_counting && share_a_map(&profilers->prog[i], prog))
			return true;
	}
	return false;
}

void bpf_profilers__spread(struct bpf_profilers *profilers)
{
	bool is_changed = true;

	while (is_changed) {
		is_changed = false;
		for (int i = 0; i < profilers->nr; i++) {
			struct bpf_profiler *prog = &profilers->prog[i];

			if (prog->is_counting || !shares_with_profiler(profilers, prog))
				continue;
			prog->is_counting = true;
			is_changed = true;
		}
	}
}

bool bpf_profilers__is_counting(const struct bpf_profilers *profilers, __u32 id)
{
	for (int i = 0; i < profilers->nr; i++) {
		if (profilers->prog[i].id == id)
			return profilers->prog[i].is_counting;
	}
	return false;
}

void bpf_profilers__clear(struct bpf_profilers *profilers)
{
	for (int i = 0; i < profilers->nr; i++)
		free(profilers->prog[i].maps);
	free(profilers->prog);
	*profilers = (struct bpf_profilers){};
}

// SPDX-License-Identifier: GPL-2.0
#include "bpf_kin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int bpf_kin__add(struct bpf_kin *kin, __u32 id, const __u32 *maps, int nr_maps, bool is_counting)
{
	struct bpf_kin_prog *grown = realloc(kin->prog, (kin->nr + 1) * sizeof(*grown));
	__u32 *copy = malloc((nr_maps + 1) * sizeof(*copy));

	if (grown)
		kin->prog = grown;
	if (!grown || !copy) {
		free(copy);
		return -ENOMEM;
	}
	if (nr_maps)
		memcpy(copy, maps, nr_maps * sizeof(*copy));
	kin->prog[kin->nr++] = (struct bpf_kin_prog){
		.id = id,
		.maps = copy,
		.nr_maps = nr_maps,
		.is_counting = is_counting,
	};
	return 0;
}

static bool share_a_map(const struct bpf_kin_prog *a, const struct bpf_kin_prog *b)
{
	for (int i = 0; i < a->nr_maps; i++) {
		for (int j = 0; j < b->nr_maps; j++) {
			if (a->maps[i] == b->maps[j])
				return true;
		}
	}
	return false;
}

static bool has_counting_kin(const struct bpf_kin *kin, const struct bpf_kin_prog *prog)
{
	for (int i = 0; i < kin->nr; i++) {
		if (kin->prog[i].is_counting && share_a_map(&kin->prog[i], prog))
			return true;
	}
	return false;
}

void bpf_kin__spread(struct bpf_kin *kin)
{
	bool is_changed = true;

	while (is_changed) {
		is_changed = false;
		for (int i = 0; i < kin->nr; i++) {
			struct bpf_kin_prog *prog = &kin->prog[i];

			if (prog->is_counting || !has_counting_kin(kin, prog))
				continue;
			prog->is_counting = true;
			is_changed = true;
		}
	}
}

bool bpf_kin__is_counting(const struct bpf_kin *kin, __u32 id)
{
	for (int i = 0; i < kin->nr; i++) {
		if (kin->prog[i].id == id)
			return kin->prog[i].is_counting;
	}
	return false;
}

void bpf_kin__clear(struct bpf_kin *kin)
{
	for (int i = 0; i < kin->nr; i++)
		free(kin->prog[i].maps);
	free(kin->prog);
	*kin = (struct bpf_kin){};
}

// SPDX-License-Identifier: GPL-2.0
#include "bpf_others.h"

#include "bpf_target.h"
#include "util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>

static int add_id(struct bpf_ids *set, __u32 id)
{
	if (set->nr == set->cap) {
		int cap = set->cap ? 2 * set->cap : 64;
		__u32 *ids = realloc(set->ids, cap * sizeof(*ids));

		if (!ids)
			return -ENOMEM;
		set->ids = ids;
		set->cap = cap;
	}
	set->ids[set->nr++] = id;
	return 0;
}

void bpf_others__find_tail_called(struct bpf_others *others)
{
	struct bpf_ids *set = &others->tail_called;
	__u32 map_id = 0;

	while (!bpf_map_get_next_id(map_id, &map_id)) {
		int fd __cleanup(close_fd) = bpf_map_get_fd_by_id(map_id);
		struct bpf_map_info map = {};
		__u32 len = sizeof(map), key, next, id;
		const __u32 *prev = NULL;

		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &map, &len) ||
		    map.type != BPF_MAP_TYPE_PROG_ARRAY)
			continue;
		for (; !bpf_map_get_next_key(fd, prev, &next); prev = &key) {
			key = next;
			if (!bpf_map_lookup_elem(fd, &key, &id) && add_id(set, id))
				return;
		}
	}
}

static bool has_id(const struct bpf_ids *set, __u32 id)
{
	for (int i = 0; i < set->nr; i++) {
		if (set->ids[i] == id)
			return true;
	}
	return false;
}

void bpf_others__tell(const struct bpf_others *others, struct bpf_target *target)
{
	target->is_tail_called = has_id(&others->tail_called, target->id);
	target->is_counting |= bpf_kin__is_counting(&others->kin, target->id);
}

int bpf_others__each(const struct bpf_others *others,
		     int (*visit)(void *ctx, struct bpf_target *target), void *ctx)
{
	__u32 id = 0;
	int err = 0;

	while (!err && !bpf_prog_get_next_id(id, &id)) {
		struct bpf_target target;

		err = bpf_target__by_id(id, &target);
		/* It may have gone meanwhile. */
		if (err == -ENOENT) {
			err = 0;
			continue;
		}
		if (err)
			return err;
		bpf_others__tell(others, &target);
		err = visit(ctx, &target);
		bpf_target__clear(&target);
	}
	return err ? err : errno == ENOENT ? 0 : -errno;
}

static int add_kin(void *ctx, struct bpf_target *target)
{
	return bpf_kin__add(ctx, target->id, target->map_ids, target->nr_maps, target->is_counting);
}

int bpf_others__find_kin(struct bpf_others *others)
{
	int err = others->kin.nr ? 0 : bpf_others__each(others, add_kin, &others->kin);

	bpf_kin__spread(&others->kin);
	return err;
}

void bpf_others__clear(struct bpf_others *others)
{
	free(others->tail_called.ids);
	bpf_kin__clear(&others->kin);
}

int bpf_target__each(int (*visit)(void *ctx, struct bpf_target *target), void *ctx)
{
	struct bpf_others others = {};
	int err;

	bpf_others__find_tail_called(&others);
	err = bpf_others__find_kin(&others);
	if (!err)
		err = bpf_others__each(&others, visit, ctx);
	bpf_others__clear(&others);
	return err;
}

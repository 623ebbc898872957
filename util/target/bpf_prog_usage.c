// SPDX-License-Identifier: GPL-2.0
#include "util/target/bpf_prog_usage.h"

#include "util/host/bpf_info.h"
#include "util/lib/array.h"
#include "util/lib/util.h"
#include "util/target/bpf_prog.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>

static int add_id(struct bpf_ids *set, __u32 id)
{
	__u32 *added = array__add(set->ids, set->nr);

	if (!added)
		return -ENOMEM;
	*added = id;
	return 0;
}

void bpf_prog_usage__find_tail_called(struct bpf_prog_usage *usage)
{
	struct bpf_ids *set = &usage->tail_called;
	__u32 map_id = 0;

	set->nr = 0;
	while (!bpf_map_get_next_id(map_id, &map_id)) {
		int fd __cleanup(close_fd) = bpf_map_get_fd_by_id(map_id);
		struct bpf_map_info map;
		__u32 key, next, id;
		const __u32 *prev = NULL;

		if (fd < 0 || bpf_info__map(fd, &map) || map.type != BPF_MAP_TYPE_PROG_ARRAY)
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

void bpf_prog_usage__apply(const struct bpf_prog_usage *usage, struct bpf_prog *prog)
{
	prog->is_tail_called = has_id(&usage->tail_called, prog->id);
	prog->is_counting |= bpf_profilers__is_counting(&usage->profilers, prog->id);
}

int bpf_prog_usage__each(const struct bpf_prog_usage *usage, __u32 after,
			 int (*visit)(void *ctx, struct bpf_prog *prog), void *ctx)
{
	__u32 id = after;
	int err = 0;

	while (!err && !bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog prog;

		err = bpf_prog__by_id(id, &prog);
		/* It may have been unloaded meanwhile. */
		if (err == -ENOENT) {
			err = 0;
			continue;
		}
		if (err)
			return err;
		bpf_prog_usage__apply(usage, &prog);
		err = visit(ctx, &prog);
		bpf_prog__clear(&prog);
	}
	return err ? err : errno == ENOENT ? 0 : -errno;
}

static int add_profiler(void *ctx, struct bpf_prog *prog)
{
	return bpf_profilers__add(ctx, prog->id, prog->map_ids, prog->nr_maps, prog->is_counting);
}

int bpf_prog_usage__find_profilers(struct bpf_prog_usage *usage, __u32 after)
{
	int err = bpf_prog_usage__each(usage, after, add_profiler, &usage->profilers);

	bpf_profilers__spread(&usage->profilers);
	return err;
}

void bpf_prog_usage__clear(struct bpf_prog_usage *usage)
{
	free(usage->tail_called.ids);
	bpf_profilers__clear(&usage->profilers);
}

int bpf_prog__each(int (*visit)(void *ctx, struct bpf_prog *prog), void *ctx)
{
	struct bpf_prog_usage usage = {};
	int err;

	bpf_prog_usage__find_tail_called(&usage);
	err = bpf_prog_usage__find_profilers(&usage, 0);
	if (!err)
		err = bpf_prog_usage__each(&usage, 0, visit, ctx);
	bpf_prog_usage__clear(&usage);
	return err;
}

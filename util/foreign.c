// SPDX-License-Identifier: GPL-2.0
#include "foreign.h"

#include "../bpf_skel/leader_registry.h"
#include "attr_map.h"
#include "util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The maps of a program; programs of our leaders have one for each slot that was ever used. */
#define MAX_PROG_MAPS 1024

struct prog_maps {
	struct bpf_prog_info info;
	__u32 ids[MAX_PROG_MAPS];
	__u32 nr;
};

static int get_maps(int prog_fd, struct prog_maps *maps)
{
	__u32 len = sizeof(maps->info);

	memset(&maps->info, 0, sizeof(maps->info));
	maps->info.map_ids = (uintptr_t)maps->ids;
	maps->info.nr_map_ids = MAX_PROG_MAPS;
	if (prog_fd < 0 || bpf_obj_get_info_by_fd(prog_fd, &maps->info, &len))
		return -errno;
	maps->nr = maps->info.nr_map_ids < MAX_PROG_MAPS ? maps->info.nr_map_ids : MAX_PROG_MAPS;
	return 0;
}

/* An id can be of anything by now: a leader is a raw tracepoint's link to on_switch. */
static int leader_of(__u32 link_id, struct prog_maps *maps)
{
	int link __cleanup(close_fd) = link_id ? bpf_link_get_fd_by_id(link_id) : -1;
	int prog __cleanup(close_fd) = -1;
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);
	int err;

	if (link < 0)
		return -ENOENT;
	if (bpf_obj_get_info_by_fd(link, &info, &len) || info.type != BPF_LINK_TYPE_RAW_TRACEPOINT)
		return -ENOENT;
	prog = bpf_prog_get_fd_by_id(info.prog_id);
	err = get_maps(prog, maps);
	if (err)
		return err;
	return strcmp(maps->info.name, "on_switch") ? -ENOENT : 0;
}

bool foreign__is_leader(__u32 link_id)
{
	struct prog_maps *maps __cleanup(free_ptr) = malloc(sizeof(*maps));

	return maps && !leader_of(link_id, maps);
}

/* The map of that type, and of that name unless NULL, among a program's; a descriptor or -1. */
static int find_map(const struct prog_maps *maps, __u32 type, const char *name, __u32 max_entries)
{
	for (__u32 i = 0; i < maps->nr; i++) {
		int fd = bpf_map_get_fd_by_id(maps->ids[i]);
		struct bpf_map_info info = {};
		__u32 len = sizeof(info);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len) && info.type == type &&
		    (!name || !strcmp(info.name, name)) &&
		    (!max_entries || info.max_entries == max_entries))
			return fd;
		close_fd(&fd);
	}
	return -1;
}

static int set_event(struct foreign_event *out, int fd, __u32 first_idx)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len)) {
		close(fd);
		return -errno;
	}
	out->map_fd = fd;
	out->map_id = info.id;
	out->first_idx = first_idx;
	return 0;
}

/* Another layout of ours says where: the one table that all layouts have in common. */
static int from_layout(int table, const struct attr_key *key, struct foreign_event *out)
{
	struct shared_event where;
	int fd;

	if (bpf_map_lookup_elem(table, key, &where))
		return -errno;
	fd = bpf_map_get_fd_by_id(where.map_id);
	return fd < 0 ? -errno : set_event(out, fd, where.first_idx);
}

int foreign__find(const struct attr_map *map, const struct attr_key *key, __u32 link_id,
		  int nr_cpus, struct foreign_event *out)
{
	struct prog_maps *maps __cleanup(free_ptr) = malloc(sizeof(*maps));
	struct attr_map_value value;
	int table __cleanup(close_fd) = -1;
	int err, fd;

	if (!maps)
		return -ENOMEM;
	err = attr_map__get(map, key, &value);
	if (err)
		return err;
	if (value.link_id == link_id)
		return -ENOENT;
	err = leader_of(value.link_id, maps);
	if (err)
		return err;
	table = find_map(maps, BPF_MAP_TYPE_HASH, "perf_shared_v0", 0);
	if (table >= 0)
		return from_layout(table, key, out);
	fd = find_map(maps, BPF_MAP_TYPE_PERF_EVENT_ARRAY, NULL, nr_cpus);
	return fd < 0 ? -ENOENT : set_event(out, fd, 0);
}

int foreign__nr_users(const __u32 *map_ids, int nr, __u32 prog_id)
{
	struct prog_maps *maps __cleanup(free_ptr) = malloc(sizeof(*maps));
	int nr_users = 0;
	__u32 id = 0;

	errno = maps ? ENOENT : ENOMEM;
	while (maps && !bpf_prog_get_next_id(id, &id)) {
		int prog __cleanup(close_fd) = bpf_prog_get_fd_by_id(id);
		bool is_user = false;

		if (id == prog_id || get_maps(prog, maps))
			continue;
		for (__u32 i = 0; i < maps->nr && !is_user; i++) {
			for (int m = 0; m < nr && !is_user; m++)
				is_user = map_ids[m] && map_ids[m] == maps->ids[i];
		}
		nr_users += is_user;
	}
	return errno == ENOENT ? nr_users : -errno;
}

// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/identify.h"

#include "bpf_skel/leader_registry.h"
#include "util/host/bpf_info.h"
#include "util/host/prog_maps.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* An id can be of anything by now: a leader is a raw tracepoint's link to on_switch. */
int identify__read_leader(int link_fd, struct prog_maps *maps)
{
	int prog __cleanup(close_fd) = -1;
	struct bpf_link_info info;
	int err;

	if (bpf_info__link(link_fd, &info) || info.type != BPF_LINK_TYPE_RAW_TRACEPOINT)
		return -ENOENT;
	prog = bpf_prog_get_fd_by_id(info.prog_id);
	err = prog < 0 ? -errno : prog_maps__read(maps, prog);
	if (err)
		return err;
	return strcmp(maps->info.name, "on_switch") ? -ENOENT : 0;
}

static int leader_of(__u32 link_id, struct prog_maps *maps)
{
	int link __cleanup(close_fd) = link_id ? bpf_link_get_fd_by_id(link_id) : -1;

	return link < 0 ? -ENOENT : identify__read_leader(link, maps);
}

bool identify__is_leader(__u32 link_id)
{
	struct prog_maps maps __cleanup(prog_maps__clear) = {};

	return !leader_of(link_id, &maps);
}

/* The map of that type, and of that name unless NULL, among a program's; a descriptor or -1. */
static int find_map(const struct prog_maps *maps, __u32 type, const char *name, __u32 max_entries)
{
	for (__u32 i = 0; i < maps->nr; i++) {
		int fd = bpf_map_get_fd_by_id(maps->ids[i]);
		struct bpf_map_info info;

		if (fd >= 0 && !bpf_info__map(fd, &info) && info.type == type &&
		    (!name || !strcmp(info.name, name)) &&
		    (!max_entries || info.max_entries == max_entries))
			return fd;
		close_fd(&fd);
	}
	return -1;
}

/* The events of an array, one per CPU from @first_idx on; takes @fd over. */
static int set_event(struct foreign_event *out, int fd, __u32 first_idx, int nr_cpus)
{
	struct bpf_map_info info;
	int err = bpf_info__map(fd, &info);

	if (!err && (info.type != BPF_MAP_TYPE_PERF_EVENT_ARRAY ||
		     info.max_entries < (__u32)nr_cpus || first_idx > info.max_entries - nr_cpus))
		err = -EPROTO;
	if (err) {
		close(fd);
		return err;
	}
	out->map_fd = fd;
	out->map_id = info.id;
	out->first_idx = first_idx;
	return 0;
}

/*
 * Another layout of ours says where: the one table that all layouts have in common. The kernel copies as
 * many bytes as the table has, so its sizes come first. The array must be one of the same program.
 */
static int from_layout(const struct prog_maps *maps, int table, const struct attr_key *key,
		       int nr_cpus, struct foreign_event *out)
{
	struct shared_event where;
	struct bpf_map_info info;
	int fd;

	if (bpf_info__map(table, &info))
		return -errno;
	if (info.key_size != sizeof(*key) || info.value_size != sizeof(where))
		return -EPROTO;
	if (bpf_map_lookup_elem(table, key, &where))
		return -errno;
	if (!prog_maps__has(maps, where.map_id))
		return -EPROTO;
	fd = bpf_map_get_fd_by_id(where.map_id);
	return fd < 0 ? -errno : set_event(out, fd, where.first_idx, nr_cpus);
}

int identify__find(const struct attr_key *key, __u32 link_id, int nr_cpus,
		   struct foreign_event *out)
{
	struct prog_maps maps __cleanup(prog_maps__clear) = {};
	int table __cleanup(close_fd) = -1;
	int err, fd, nr_possible;

	err = leader_of(link_id, &maps);
	if (err)
		return err;
	table = find_map(&maps, BPF_MAP_TYPE_HASH, "perf_shared_v0", 0);
	if (table >= 0)
		return from_layout(&maps, table, key, nr_cpus, out);
	/* Linux's perf has an entry for each CPU that can ever be there. */
	nr_possible = libbpf_num_possible_cpus();
	fd = nr_possible < 0 ? nr_possible :
			       find_map(&maps, BPF_MAP_TYPE_PERF_EVENT_ARRAY, NULL, nr_possible);
	return fd < 0 ? -ENOENT : set_event(out, fd, 0, nr_cpus);
}

/* Which maps a program uses, and whether any. */
static bool note_user(struct foreign_users *users, const struct prog_maps *maps,
		      const __u32 *map_ids, int nr)
{
	bool is_user = false;

	for (int m = 0; m < nr; m++) {
		if (prog_maps__has(maps, map_ids[m])) {
			users->used[m] = true;
			is_user = true;
		}
	}
	return is_user;
}

int identify__look(struct foreign_users *users, const __u32 *map_ids, int nr, __u32 prog_id)
{
	struct prog_maps maps __cleanup(prog_maps__clear) = {};
	__u32 id = users->last_id;

	while (!bpf_prog_get_next_id(id, &id)) {
		int prog __cleanup(close_fd) = bpf_prog_get_fd_by_id(id);
		int err = prog < 0 || id == prog_id ? -ENOENT : prog_maps__read(&maps, prog);

		if (err == -ENOMEM)
			return err;
		if (!err)
			users->nr += note_user(users, &maps, map_ids, nr);
		users->last_id = id;
	}
	return errno == ENOENT ? 0 : -errno;
}

// SPDX-License-Identifier: GPL-2.0
/* From the attr map, or from all links there are, to a leader whose parts are held. */
#include "leader.h"

#include "attr_map.h"
#include "leader_events.h"
#include "leader_tasks.h"
#include "util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct leader *alloc_leader(struct attr_map *attr_map)
{
	struct leader *leader = calloc(1, sizeof(*leader));

	if (!leader)
		return NULL;
	leader->attr_map = attr_map;
	leader->link_fd = -1;
	leader->hotplug_link_fd = -1;
	leader->token_fd = -1;
	leader->run = -1;
	memset(leader->map_fds, -1, sizeof(leader->map_fds));
	memset(leader->prog_fds, -1, sizeof(leader->prog_fds));
	memset(leader->task_link_fds, -1, sizeof(leader->task_link_fds));
	return leader;
}

static size_t readings_size(const struct leader *leader)
{
	return leader__page_up(leader->nr_cpus * sizeof(struct cpu_readings));
}

bool leader__is_for_cgroups(enum leader_prog prog)
{
	return prog == LEADER_ON_CGROUP_SWITCH || prog == LEADER_ON_CGROUP_SYNC ||
	       prog == LEADER_ON_ATTACH || prog == LEADER_ON_MKDIR;
}

/*
 * Take hold of every part that the registry names. A part that is gone means that the last run has
 * just ended and the leader is being taken apart: -ENOENT.
 */
static int take_parts(struct leader *leader)
{
	const struct registry *reg = leader->registry;

	leader->nr_cpus = reg->nr_cpus;
	leader->link_fd = bpf_link_get_fd_by_id(reg->link_id);
	if (leader->link_fd < 0)
		return -errno;
	if (reg->hotplug_link_id) {
		leader->hotplug_link_fd = bpf_link_get_fd_by_id(reg->hotplug_link_id);
		if (leader->hotplug_link_fd < 0)
			return -errno;
	}
	for (int i = 0; i < NR_LEADER_MAPS; i++) {
		if (leader->map_fds[i] < 0)
			leader->map_fds[i] = bpf_map_get_fd_by_id(reg->map_ids[i]);
		if (leader->map_fds[i] < 0)
			return -errno;
	}
	for (int i = 0; i < NR_LEADER_PROGS; i++) {
		/* One is optional: 0 where the kernel would not have it. */
		if (!reg->prog_ids[i])
			continue;
		leader->prog_fds[i] = bpf_prog_get_fd_by_id(reg->prog_ids[i]);
		/* Those for cgroups live no longer than the runs that count cgroups. */
		if (leader->prog_fds[i] < 0 && !leader__is_for_cgroups(i))
			return -errno;
	}
	leader->readings = leader__map_memory(leader->map_fds[LEADER_READINGS], readings_size(leader),
					      PROT_READ);
	return leader->readings ? leader_tasks__map(leader) : -errno;
}

int leader__from_registry(struct attr_map *attr_map, int fd, struct leader **out)
{
	struct leader *leader = alloc_leader(attr_map);
	int err;

	if (!leader) {
		close(fd);
		return -ENOMEM;
	}
	leader->map_fds[LEADER_REGISTRY] = fd;
	leader->registry = leader__map_memory(fd, leader__page_up(sizeof(struct registry)),
					      PROT_READ | PROT_WRITE);
	if (!leader->registry) {
		err = -errno;
		goto out;
	}
	err = -ENOENT;
	if (leader->registry->layout != LEADER_LAYOUT ||
	    leader->registry->size != sizeof(struct registry) ||
	    leader->registry->attr_map_id != attr_map->id)
		goto out;
	err = take_parts(leader);
out:
	if (err)
		leader__delete(leader);
	else
		*out = leader;
	return err;
}

/* The registry among the maps of a link's program, if that is a leader of our kind; -1: none. */
static int find_registry(__u32 link_id)
{
	int link __cleanup(close_fd) = bpf_link_get_fd_by_id(link_id);
	int prog __cleanup(close_fd) = -1;
	struct bpf_link_info link_info = {};
	__u32 map_ids[64];
	struct bpf_prog_info info = {};
	__u32 len = sizeof(link_info);

	if (link < 0 || bpf_obj_get_info_by_fd(link, &link_info, &len) ||
	    link_info.type != BPF_LINK_TYPE_RAW_TRACEPOINT)
		return -1;
	prog = bpf_prog_get_fd_by_id(link_info.prog_id);
	info.map_ids = (uintptr_t)map_ids;
	info.nr_map_ids = ARRAY_SIZE(map_ids);
	len = sizeof(info);
	if (prog < 0 || bpf_obj_get_info_by_fd(prog, &info, &len) || strcmp(info.name, "on_switch"))
		return -1;
	for (__u32 i = 0; i < info.nr_map_ids && i < ARRAY_SIZE(map_ids); i++) {
		int fd = bpf_map_get_fd_by_id(map_ids[i]);
		struct bpf_map_info map = {};

		len = sizeof(map);
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &map, &len) &&
		    map.type == BPF_MAP_TYPE_ARRAY && !strcmp(map.name, "registry") &&
		    map.value_size == sizeof(struct registry) && map.max_entries == 1)
			return fd;
		close_fd(&fd);
	}
	return -1;
}

struct find_ctx {
	struct attr_map *attr_map;
	struct leader *found;
	__u32 last_link;	/* entries of one leader all name the same link */
};

static int from_link(struct find_ctx *ctx, __u32 link_id)
{
	int fd = find_registry(link_id), err;

	if (fd < 0)
		return 0;
	err = leader__from_registry(ctx->attr_map, fd, &ctx->found);
	return err == -ENOMEM ? err : ctx->found != NULL;
}

static int visit_entry(void *data, const struct attr_map_value *value, bool *drop)
{
	struct find_ctx *ctx = data;

	/* We hold that one. */
	if (ctx->found && value->link_id == ctx->last_link)
		return 0;
	if (!leader__is_link_alive(value->link_id)) {
		*drop = true;
		return 0;
	}
	if (ctx->found || value->link_id == ctx->last_link)
		return 0;
	ctx->last_link = value->link_id;
	return from_link(ctx, value->link_id) < 0 ? -ENOMEM : 0;
}

/* Entries can be missing: a full map, a crash between loading and announcing. Then ask the kernel. */
static int walk_links(struct find_ctx *ctx)
{
	__u32 id = 0;
	int err = 0;

	while (!err && !bpf_link_get_next_id(id, &id))
		err = from_link(ctx, id);
	return err < 0 ? err : 0;
}

int leader__find(struct attr_map *attr_map, struct leader **out)
{
	struct find_ctx ctx = { .attr_map = attr_map };
	int err;

	err = attr_map__each(attr_map, visit_entry, &ctx);
	if (!err && !ctx.found)
		err = walk_links(&ctx);
	*out = ctx.found;
	return err;
}

void leader__delete(struct leader *leader)
{
	if (!leader)
		return;
	leader_tasks__detach(leader);
	leader_events__unmap(leader);
	free(leader->watch);
	if (leader->readings)
		munmap(leader->readings, readings_size(leader));
	if (leader->registry)
		munmap(leader->registry, leader__page_up(sizeof(*leader->registry)));
	close_fd(&leader->token_fd);
	close_fd(&leader->link_fd);
	close_fd(&leader->hotplug_link_fd);
	for (int i = 0; i < NR_LEADER_PROGS; i++)
		close_fd(&leader->prog_fds[i]);
	for (int i = 0; i < NR_LEADER_MAPS; i++)
		close_fd(&leader->map_fds[i]);
	free(leader);
}

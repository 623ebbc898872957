// SPDX-License-Identifier: GPL-2.0
/*
 * Find the leader through its record, and take references to its parts:
 *
 *	record -> link -> on_switch, loaded at that time -> its maps -> registry, which has all ids
 */
#include "util/bperf/leader_find.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/leader.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_maps.h"
#include "util/bperf/leader_parts.h"
#include "util/bperf/leader_progs.h"
#include "util/bperf/leader_record.h"
#include "util/host/bpf_info.h"
#include "util/host/prog_maps.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* Sessions that need the maps and programs of tasks or cgroups take hold of these themselves. */
static int take_progs(struct bperf_leader *leader)
{
	return leader_progs__hold(leader, PROGS_ALWAYS) ? 0 : -ENOENT;
}

/* The kernel maps no frozen map writable, and maps of a leader are never frozen: it is another's. */
static int mapping_error(int err)
{
	return err == -EPERM ? -EPROTO : err;
}

/*
 * Take hold of every part that the registry names. A part that is gone means that the last session has
 * just ended and the leader is being taken apart: -ENOENT.
 */
static int take_parts(struct bperf_leader *leader, const struct prog_maps *maps)
{
	__u32 hotplug_link_id = leader->registry->hotplug_link_id;
	int err;

	if (hotplug_link_id) {
		leader->hotplug_link_fd = bpf_link_get_fd_by_id(hotplug_link_id);
		if (leader->hotplug_link_fd < 0)
			return -errno;
	}
	err = leader_maps__take(leader, maps, MAPS_ALWAYS);
	if (!err)
		err = take_progs(leader);
	if (err)
		return err;
	return mapping_error(bperf_leader__map(leader));
}

/* True if a registry is complete, and serves this attr map under this lock. */
static bool serves(const struct registry *reg, const struct attr_map *attr_map)
{
	return __atomic_load_n(&reg->layout, __ATOMIC_ACQUIRE) == LEADER_LAYOUT &&
	       reg->size == sizeof(*reg) && reg->attr_map_id == attr_map->id &&
	       reg->lock_dev == attr_map->lock_stat.st_dev &&
	       reg->lock_ino == attr_map->lock_stat.st_ino;
}

/* True if its sessions take the same lock of tasks. */
static bool has_task_lock(const struct registry *reg, const struct attr_map *attr_map)
{
	return reg->task_lock_dev == attr_map->task_lock_stat.st_dev &&
	       reg->task_lock_ino == attr_map->task_lock_stat.st_ino;
}

static int take_registry(struct bperf_leader *leader, const struct leader_record *record,
			 const struct prog_maps *maps)
{
	int fd = bpf_map_get_fd_by_id(record->registry_id), err;

	if (fd < 0)
		return -errno;
	leader->map_fds[LEADER_REGISTRY] = fd;
	err = leader_parts__check(LEADER_REGISTRY, fd, &leader->nr_cpus);
	if (err)
		return err;
	leader->registry = bpf_info__map_memory(fd, bpf_info__page_up(sizeof(struct registry)),
						PROT_READ | PROT_WRITE);
	if (!leader->registry)
		return mapping_error(-errno);
	if (!serves(leader->registry, leader->attr_map))
		return -ENOENT;
	if (!has_task_lock(leader->registry, leader->attr_map))
		return -ESTALE;
	return take_parts(leader, maps);
}

/* Check that a record's ids still name what they did; gives the link and all maps of its program. */
static int check_record(const struct leader_record *record, int *link_fd, struct prog_maps *maps)
{
	int prog __cleanup(close_fd) = -1;
	struct bpf_link_info info;
	int err;

	*link_fd = bpf_link_get_fd_by_id(record->link_id);
	if (*link_fd < 0 || bpf_info__link(*link_fd, &info))
		return -errno;
	if (info.type != BPF_LINK_TYPE_RAW_TRACEPOINT || info.prog_id != record->prog_id)
		return -ENOENT;
	prog = bpf_prog_get_fd_by_id(record->prog_id);
	if (prog < 0)
		return -errno;
	err = prog_maps__read(maps, prog);
	if (err)
		return err;
	return maps->info.load_time == record->load_time_ns &&
			       prog_maps__has(maps, record->registry_id) ?
		       0 :
		       -ENOENT;
}

int leader_find__by_record(struct attr_map *attr_map, const struct leader_record *record,
			   struct bperf_leader **out)
{
	struct bperf_leader *leader = bperf_leader__new(attr_map);
	struct prog_maps maps = {};
	int err;

	if (!leader)
		return -ENOMEM;
	err = record->attr_map_id == attr_map->id ? check_record(record, &leader->link_fd, &maps) :
						    -ENOENT;
	if (!err)
		err = take_registry(leader, record, &maps);
	prog_maps__clear(&maps);
	leader->record = *record;
	if (err)
		bperf_leader__delete(leader);
	else
		*out = leader;
	return err;
}

struct bperf_leader *leader_find__look(struct attr_map *attr_map)
{
	struct leader_record record;
	struct bperf_leader *leader = NULL;

	if (attr_map->fd < 0 || leader_record__read(attr_map, &record) ||
	    leader_find__by_record(attr_map, &record, &leader))
		return NULL;
	return leader;
}

bool leader_find__is_current(const struct bperf_leader *leader)
{
	const struct attr_map *attr_map = leader->attr_map;
	struct leader_record now;

	return !leader_record__read(attr_map, &now) && now.attr_map_id == attr_map->id &&
	       leader_record__is_same(&now, &leader->record) &&
	       serves(leader->registry, attr_map) && has_task_lock(leader->registry, attr_map);
}

int leader_find__serving(struct attr_map *attr_map, struct bperf_leader **out)
{
	struct leader_record record;
	int err;

	*out = NULL;
	err = leader_record__read(attr_map, &record);
	if (err == -EPERM) {
		if (bpf_info__is_link_alive(record.link_id))
			pr_warn("the leader that %s_lock names is another user's, who is not trusted: not joined (bperf.trusted-owners in /etc/perfconfig)",
				attr_map->path);
		return 0;
	}
	if (!err)
		err = leader_find__by_record(attr_map, &record, out);
	if (err == -EPROTO) {
		pr_warn("the leader that %s_lock names is not as this perf makes it: not joined",
			attr_map->path);
		return 0;
	}
	if (err == -ESTALE) {
		pr_warn("%s_lock/tasks was removed while others count: this session does not share with them",
			attr_map->path);
		return 0;
	}
	return err == -ENOENT ? 0 : err;
}

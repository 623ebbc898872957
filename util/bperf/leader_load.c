// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/leader_load.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/crash_point.h"
#include "util/bperf/leader_find.h"
#include "util/bperf/leader.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_maps.h"
#include "util/bperf/leader_progs.h"
#include "util/bperf/leader_record.h"
#include "util/host/bpf_info.h"
#include "util/host/cpumap.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The tracepoint of the link that the attr map names. It must exist in most kernels and practically
 * never fire; a run of on_switch there does no harm.
 */
static const char *const quiet_tracepoints[] = {"sched_process_hang", "cpuhp_enter"};

static int attach_quiet(struct bperf_leader *leader)
{
	int prog_fd = leader->prog_fds[LEADER_ON_SWITCH];

	for (size_t i = 0; i < ARRAY_SIZE(quiet_tracepoints); i++) {
		leader->link_fd = bpf_raw_tracepoint_open(quiet_tracepoints[i], prog_fd);
		if (leader->link_fd >= 0)
			return 0;
		if (errno != ENOENT)
			return -errno;
	}
	return -ENOENT;
}

static void attach_hotplug(struct bperf_leader *leader)
{
	leader->hotplug_link_fd =
		bpf_raw_tracepoint_open("cpuhp_enter", leader->prog_fds[LEADER_ON_HOTPLUG]);
	if (leader->hotplug_link_fd < 0)
		pr_verbose("CPU hotplug cannot be tracked: %s", strerror(errno));
}

static int make_maps(struct bperf_leader *leader)
{
	size_t size = bpf_info__page_up(sizeof(struct registry));
	int err = leader_maps__make(leader);

	if (err)
		return err;
	leader->registry = bpf_info__map_memory(leader->map_fds[LEADER_REGISTRY], size,
						PROT_READ | PROT_WRITE);
	return leader->registry ? 0 : -errno;
}

/* Fill in the registry's header; the layout goes last: it makes the leader complete. */
static int write_header(struct bperf_leader *leader)
{
	const struct attr_map *attr_map = leader->attr_map;
	struct registry *reg = leader->registry;
	int err;

	reg->nr_scope_sets = reg->nr_scopes = 1;
	err = leader_maps__name(leader);
	if (!err)
		err = bpf_info__link_id(leader->link_fd, &reg->link_id);
	if (!err && leader->hotplug_link_fd >= 0)
		err = bpf_info__link_id(leader->hotplug_link_fd, &reg->hotplug_link_id);
	if (err)
		return err;
	reg->attr_map_id = attr_map->id;
	reg->lock_dev = attr_map->lock_stat.st_dev;
	reg->lock_ino = attr_map->lock_stat.st_ino;
	reg->task_lock_dev = attr_map->task_lock_stat.st_dev;
	reg->task_lock_ino = attr_map->task_lock_stat.st_ino;
	reg->nr_cpus = leader->nr_cpus;
	reg->size = sizeof(*reg);
	crash_point__reach("leader-written");
	__atomic_store_n(&reg->layout, LEADER_LAYOUT, __ATOMIC_RELEASE);
	crash_point__reach("leader-complete");
	return 0;
}

static int describe(const struct bperf_leader *leader, struct leader_record *record)
{
	struct bpf_prog_info info;

	if (bpf_info__prog(leader->prog_fds[LEADER_ON_SWITCH], &info))
		return -errno;
	*record = (struct leader_record){
		.attr_map_id = leader->registry->attr_map_id,
		.prog_id = info.id,
		.load_time_ns = info.load_time,
		.link_id = leader->registry->link_id,
		.registry_id = leader->registry->map_ids[LEADER_REGISTRY],
	};
	return 0;
}

/*
 * A leader of our own making is joined like any other: by its record. The record goes last: a leader
 * that a crash leaves without one ends with its maker. Errors come after a message.
 */
static int record_and_join(struct attr_map *attr_map, const struct bperf_leader *made,
			   struct bperf_leader **out)
{
	struct leader_record record;
	int err = describe(made, &record);

	if (!err)
		err = leader_find__by_record(attr_map, &record, out);
	if (err) {
		leader_progs__explain(err);
		return err;
	}
	err = leader_record__write(attr_map, &record);
	if (!err)
		return 0;
	pr_err("cannot share events: cannot record the leader in %s_lock: %s", attr_map->path,
	       strerror(-err));
	bperf_leader__delete(*out);
	*out = NULL;
	return err;
}

/* Errors come after a message. */
static int make(struct bperf_leader *leader)
{
	int err = make_maps(leader);

	if (!err) {
		err = leader_progs__load(leader, PROGS_ALWAYS);
		if (err)
			return err;
		err = attach_quiet(leader);
	}
	if (!err) {
		attach_hotplug(leader);
		err = write_header(leader);
	}
	if (err)
		leader_progs__explain(err);
	return err;
}

int leader_load__new(struct attr_map *attr_map, struct bperf_leader **out)
{
	/* A virtual machine may have room for hundreds more. */
	struct cpumap *present = cpumap__present();
	struct bperf_leader *made = present ? bperf_leader__new(attr_map) : NULL;
	int err;

	if (made) {
		made->nr_cpus = cpumap__max(present) + 1;
		err = make(made);
	} else {
		err = -errno;
	}
	if (!err)
		err = record_and_join(attr_map, made, out);
	bperf_leader__delete(made);
	cpumap__delete(present);
	return err;
}

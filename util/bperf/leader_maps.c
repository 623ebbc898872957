// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/leader_maps.h"

#include "util/bperf/crash_point.h"
#include "util/bperf/leader_internal.h"
#include "util/host/bpf_info.h"
#include "util/host/prog_maps.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>

static int make(struct bperf_leader *leader, enum leader_map map)
{
	leader->map_fds[map] = leader_parts__new(map, leader->nr_cpus);
	return leader->map_fds[map] < 0 ? leader->map_fds[map] : 0;
}

/* Bind a map to on_switch; @id receives its id. */
static int bind_map(const struct bperf_leader *leader, enum leader_map map, __u32 *id)
{
	int err = bpf_info__map_id(leader->map_fds[map], id);

	if (err)
		return err;
	return bpf_prog_bind_map(leader->prog_fds[LEADER_ON_SWITCH], leader->map_fds[map], NULL) ?
		       -errno :
		       0;
}

int leader_maps__make(struct bperf_leader *leader)
{
	int err = 0;

	for (int i = 0; i < NR_LEADER_MAPS && !err; i++) {
		if (leader_parts__kind(i) == MAPS_ALWAYS)
			err = make(leader, i);
	}
	return err;
}

int leader_maps__name(struct bperf_leader *leader)
{
	int err = 0;

	for (int i = 0; i < NR_LEADER_MAPS && !err; i++) {
		if (leader_parts__kind(i) == MAPS_ALWAYS)
			err = bind_map(leader, i, &leader->registry->map_ids[i]);
	}
	return err;
}

static int take(struct bperf_leader *leader, const struct prog_maps *maps, enum leader_map map)
{
	__u32 id = leader->registry->map_ids[map];

	if (!prog_maps__has(maps, id))
		return -EPROTO;
	leader->map_fds[map] = bpf_map_get_fd_by_id(id);
	if (leader->map_fds[map] < 0)
		return -errno;
	return leader_parts__check(map, leader->map_fds[map], &leader->nr_cpus);
}

int leader_maps__take(struct bperf_leader *leader, const struct prog_maps *maps, enum map_kind kind)
{
	int err = 0;

	for (int i = 0; i < NR_LEADER_MAPS && !err; i++) {
		if (leader_parts__kind(i) == kind && leader->map_fds[i] < 0 &&
		    (kind == MAPS_ALWAYS || leader->registry->map_ids[i]))
			err = take(leader, maps, i);
	}
	return err;
}

static bool has_all(const struct bperf_leader *leader, enum map_kind kind)
{
	for (int i = 0; i < NR_LEADER_MAPS; i++) {
		if (leader_parts__kind(i) == kind && leader->map_fds[i] < 0)
			return false;
	}
	return true;
}

/* Make a map of a leader that others use already. */
static int add(struct bperf_leader *leader, enum leader_map map)
{
	__u32 id;
	int err = make(leader, map);

	if (!err)
		err = bind_map(leader, map, &id);
	if (err) {
		/* Only a map that others find is one of the leader's. */
		close_fd(&leader->map_fds[map]);
		return err;
	}
	crash_point__reach("map-bound");
	__atomic_store_n(&leader->registry->map_ids[map], id, __ATOMIC_RELEASE);
	crash_point__reach("map-named");
	return 0;
}

static int make_missing(struct bperf_leader *leader, enum map_kind kind)
{
	int err = 0;

	for (int i = 0; i < NR_LEADER_MAPS && !err; i++) {
		if (leader_parts__kind(i) == kind && leader->map_fds[i] < 0)
			err = add(leader, i);
	}
	return err;
}

int leader_maps__need(struct bperf_leader *leader, enum map_kind kind)
{
	struct prog_maps maps = {};
	int err;

	if (has_all(leader, kind))
		return 0;
	err = prog_maps__read(&maps, leader->prog_fds[LEADER_ON_SWITCH]);
	if (!err)
		err = leader_maps__take(leader, &maps, kind);
	if (!err)
		err = make_missing(leader, kind);
	prog_maps__clear(&maps);
	return err;
}

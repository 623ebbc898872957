// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/cgroup_table.h"

#include "util/bperf/crash_point.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_progs.h"
#include "util/bperf/leader_sync.h"
#include "util/bperf/scope_set.h"
#include "util/lib/id_map.h"

#include <bpf/bpf.h>
#include <errno.h>

bool cgroup_table__is_used(const struct bperf_leader *leader, int pos)
{
	__u64 id = __atomic_load_n(&leader->cgroups[pos].id, __ATOMIC_RELAXED);

	return id && id != CGROUP_RESERVED;
}

__u32 cgroup_table__own_scope_set(const struct bperf_leader *leader, int pos)
{
	return shared_id(&leader->cgroups[pos].scope_set, MAX_SCOPE_SETS);
}

__u32 cgroup_table__scope_set(const struct bperf_leader *leader, int pos)
{
	__u32 scope_set = cgroup_table__own_scope_set(leader, pos);

	return scope_set__is_pool_entry(&leader->scope_sets, scope_set) ?
		       scope_set__parent(&leader->scope_sets, scope_set) :
		       scope_set;
}

int cgroup_table__read(const struct bperf_leader *leader, struct id_map *known)
{
	for (int i = 0; i < MAX_CGROUPS; i++) {
		if (cgroup_table__is_used(leader, i) &&
		    id_map__set(known, leader->cgroups[i].id, i))
			return -ENOMEM;
	}
	return 0;
}

void cgroup_table__set_scope_set(struct bperf_leader *leader, int pos, __u32 scope_set)
{
	__u32 own = cgroup_table__own_scope_set(leader, pos);
	bool is_pool_entry = scope_set__is_pool_entry(&leader->scope_sets, own);

	__atomic_store_n(is_pool_entry ? &leader->scope_sets.scope_set[own].parent :
					 &leader->cgroups[pos].scope_set,
			 scope_set, __ATOMIC_RELEASE);
	crash_point__reach("cgroup-changed");
}

int cgroup_table__find_free(struct bperf_leader *leader, int *hint)
{
	while (*hint < MAX_CGROUPS && leader->cgroups[*hint].id)
		++*hint;
	if (*hint < MAX_CGROUPS)
		return *hint;
	leader->scope_sets.full = FULL_CGROUPS;
	return -ENOSPC;
}

/* Have programs find a cgroup. */
static int enter_id(struct bperf_leader *leader, __u64 id, __u32 pos)
{
	if (bpf_map_update_elem(leader->map_fds[LEADER_CGROUP_IDS], &id, &pos, BPF_ANY)) {
		if (errno != E2BIG)
			return -errno;
		leader->scope_sets.full = FULL_CGROUPS;
		return -ENOSPC;
	}
	crash_point__reach("cgroup-added");
	return 0;
}

int cgroup_table__add(struct bperf_leader *leader, __u64 id, __u32 scope_set, int *hint)
{
	int free = cgroup_table__find_free(leader, hint);
	__u32 pos = free;

	if (free < 0)
		return free;
	leader->cgroups[pos].scope_set = scope_set;
	__atomic_store_n(&leader->cgroups[pos].id, id, __ATOMIC_RELEASE);
	crash_point__reach("cgroup-written");
	return enter_id(leader, id, pos);
}

int cgroup_table__show(struct bperf_leader *leader, __u32 pos)
{
	__u64 id = leader->cgroups[pos].id;
	__u32 found;

	if (!bpf_map_lookup_elem(leader->map_fds[LEADER_CGROUP_IDS], &id, &found) && found == pos)
		return 0;
	return enter_id(leader, id, pos);
}

int cgroup_table__hide(struct bperf_leader *leader, __u64 id)
{
	if (bpf_map_delete_elem(leader->map_fds[LEADER_CGROUP_IDS], &id) && errno != ENOENT)
		return -errno;
	crash_point__reach("cgroup-removed");
	return 0;
}

int cgroup_table__begin_epoch(struct bperf_leader *leader)
{
	__u32 epoch = leader->cgroup_clock->epoch + 1;
	/* A session that cleans up need not count cgroups itself. */
	int err = leader_progs__load(leader, PROGS_CGROUPS);

	if (err)
		return err;

	__atomic_store_n(&leader->cgroup_clock->epoch, epoch ? epoch : 1, __ATOMIC_SEQ_CST);
	crash_point__reach("epoch-begun");
	/* Then a CPU can have an old scope set only if it has run the same task since. */
	err = leader_sync__wait();
	return err ? err : leader_sync__changed_cgroups(leader);
}

static bool is_of_session(const struct bperf_leader *leader, int scope, int session)
{
	return leader->registry->scope[scope].session == (__u32)session + 1;
}

int cgroup_table__forget_running(struct bperf_leader *leader)
{
	/* A link's id goes before its program is detached. */
	int err = leader_sync__wait();

	for (int cpu = 0; cpu < leader->nr_cpus && !err; cpu++)
		leader->cpus[cpu].scope_set[SCOPE_SET_CGROUP] = 0;
	return err;
}

int cgroup_table__read_needed(const struct bperf_leader *leader, int session, struct id_map *needed)
{
	__u32 nr = scope_set__nr_scopes(leader->registry);

	for (__u32 i = 1; i < nr; i++) {
		const struct reg_scope *scope = &leader->registry->scope[i];

		if (scope->session && scope->cgroup && !is_of_session(leader, i, session) &&
		    id_map__set(needed, scope->cgroup, i))
			return -ENOMEM;
	}
	return 0;
}

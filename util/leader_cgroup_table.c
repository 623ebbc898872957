// SPDX-License-Identifier: GPL-2.0
#include "leader_cgroup_table.h"

#include "classes.h"
#include "id_map.h"
#include "leader.h"
#include "leader_cgroups.h"
#include "leader_tasks.h"

#include <bpf/bpf.h>
#include <errno.h>

bool cgroup_table__is_used(const struct leader *leader, int pos)
{
	return leader->cgroups[pos].id && leader->cgroups[pos].id != CGROUP_RESERVED;
}

__u32 *cgroup_table__class(const struct leader *leader, int pos)
{
	__u32 *class = &leader->cgroups[pos].class;

	return classes__is_newborn(&leader->classes, *class) ?
		       &leader->classes.class[*class].base : class;
}

int cgroup_table__read(const struct leader *leader, struct id_map *known)
{
	for (int i = 0; i < MAX_CGROUPS; i++) {
		if (cgroup_table__is_used(leader, i) && id_map__set(known, leader->cgroups[i].id, i))
			return -ENOMEM;
	}
	return 0;
}

void cgroup_table__set_class(struct leader *leader, int pos, __u32 class)
{
	__atomic_store_n(cgroup_table__class(leader, pos), class, __ATOMIC_RELEASE);
	leader__step("cgroup-changed");
}

int cgroup_table__find_free(struct leader *leader, int *hint)
{
	while (*hint < MAX_CGROUPS && leader->cgroups[*hint].id)
		++*hint;
	if (*hint < MAX_CGROUPS)
		return *hint;
	leader->classes.full = FULL_CGROUPS;
	return -ENOSPC;
}

int cgroup_table__add(struct leader *leader, __u64 id, __u32 class, int *hint)
{
	int free = cgroup_table__find_free(leader, hint);
	__u32 pos = free;

	if (free < 0)
		return free;
	leader->cgroups[pos].class = class;
	__atomic_store_n(&leader->cgroups[pos].id, id, __ATOMIC_RELEASE);
	leader__step("cgroup-written");
	if (bpf_map_update_elem(leader->map_fds[LEADER_CGROUP_IDS], &id, &pos, BPF_ANY))
		return -errno;
	leader__step("cgroup-added");
	return 0;
}

int cgroup_table__hide(struct leader *leader, __u64 id)
{
	if (bpf_map_delete_elem(leader->map_fds[LEADER_CGROUP_IDS], &id) && errno != ENOENT)
		return -errno;
	leader__step("cgroup-removed");
	return 0;
}

int cgroup_table__begin_epoch(struct leader *leader)
{
	__u32 epoch = leader->cgroup_clock->epoch + 1;
	/* Whoever cleans up need not be one that counts cgroups. */
	int err = leader__load_cgroups(leader);

	if (err)
		return err;

	__atomic_store_n(&leader->cgroup_clock->epoch, epoch ? epoch : 1, __ATOMIC_SEQ_CST);
	leader__step("epoch-begun");
	return leader_cgroups__sync(leader, NULL, NULL);
}

static bool is_of_run(const struct leader *leader, int scope, int run)
{
	return leader->registry->scope[scope].run == (__u32)run + 1;
}

int cgroup_table__forget_running(struct leader *leader)
{
	/* A link's id goes before its program is detached. */
	int err = leader_tasks__wait();

	for (int cpu = 0; cpu < leader->nr_cpus && !err; cpu++)
		leader->cpus[cpu].class[OF_CGROUP] = 0;
	return err;
}

int cgroup_table__read_needed(const struct leader *leader, int run, struct id_map *needed)
{
	for (__u32 i = 1; i < leader->registry->nr_scopes; i++) {
		const struct reg_scope *scope = &leader->registry->scope[i];

		if (scope->run && scope->cgroup && !is_of_run(leader, i, run) &&
		    id_map__set(needed, scope->cgroup, i))
			return -ENOMEM;
	}
	return 0;
}

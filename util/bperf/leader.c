// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/leader.h"

#include "util/bperf/crash_point.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_maps.h"
#include "util/bperf/leader_sums.h"
#include "util/host/bpf_info.h"
#include "util/host/capability.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- memory --- */

static size_t readings_size(const struct bperf_leader *leader)
{
	return bpf_info__page_up(leader->nr_cpus * sizeof(struct cpu_readings));
}

static void *map_table(const struct bperf_leader *leader, enum leader_map map, size_t size)
{
	return bpf_info__map_memory(leader->map_fds[map], bpf_info__page_up(size),
				    PROT_READ | PROT_WRITE);
}

static void unmap_table(void *table, size_t size)
{
	if (table)
		munmap(table, bpf_info__page_up(size));
}

int bperf_leader__map(struct bperf_leader *leader)
{
	struct scope_tables *c = &leader->scope_sets;

	leader->readings = bpf_info__map_memory(leader->map_fds[LEADER_READINGS],
						readings_size(leader), PROT_READ);
	if (!leader->readings)
		return -errno;
	leader->cpus = map_table(leader, LEADER_CPUS, leader->nr_cpus * sizeof(*leader->cpus));
	c->reg = leader->registry;
	c->nr_cpus = leader->nr_cpus;
	leader_sums__provide(leader);
	c->step = crash_point__reach;
	c->ctx = leader;
	return leader->cpus ? 0 : -errno;
}

/* Most sessions do not need the tables below, and the kernel maps each page of one at once. */
static void *map_once(const struct bperf_leader *leader, enum leader_map map, size_t size,
		      void *mapped)
{
	return mapped ? mapped : map_table(leader, map, size);
}

int bperf_leader__map_scopes(struct bperf_leader *leader)
{
	struct scope_tables *c = &leader->scope_sets;
	int err = leader_maps__need(leader, MAPS_SCOPES);

	if (err)
		return err;
	c->scope_set = map_once(leader, LEADER_SCOPE_SETS, MAX_SCOPE_SETS * sizeof(*c->scope_set),
				c->scope_set);
	c->set = map_once(leader, LEADER_SETS, MAX_SETS * sizeof(*c->set), c->set);
	leader->task_slices =
		map_once(leader, LEADER_TASK_SLICES, leader->nr_cpus * sizeof(*leader->task_slices),
			 leader->task_slices);
	return c->scope_set && c->set && leader->task_slices ? 0 : -errno;
}

int bperf_leader__map_walk(struct bperf_leader *leader)
{
	int err = leader_maps__need(leader, MAPS_TASKS);

	if (err)
		return err;
	leader->walk = map_once(leader, LEADER_WALK, sizeof(*leader->walk), leader->walk);
	leader->transitions =
		map_once(leader, LEADER_TRANSITIONS, MAX_SCOPE_SETS * sizeof(*leader->transitions),
			 leader->transitions);
	return leader->walk && leader->transitions ? 0 : -errno;
}

int bperf_leader__map_buckets(struct bperf_leader *leader)
{
	int err = leader_maps__need(leader, MAPS_TASKS);

	if (err)
		return err;
	leader->buckets = map_once(leader, LEADER_BUCKETS,
				   sizeof(struct task_bucket) << BUCKET_BITS, leader->buckets);
	return leader->buckets ? 0 : -errno;
}

int bperf_leader__map_cgroups(struct bperf_leader *leader)
{
	int err = leader_maps__need(leader, MAPS_CGROUPS);

	if (err)
		return err;
	leader->cgroup_clock =
		map_once(leader, LEADER_CLOCK, sizeof(*leader->cgroup_clock), leader->cgroup_clock);
	leader->pool = map_once(leader, LEADER_POOL, MAX_POOL_ENTRIES * sizeof(*leader->pool),
				leader->pool);
	leader->cgroups = map_once(leader, LEADER_CGROUPS, MAX_CGROUPS * sizeof(*leader->cgroups),
				   leader->cgroups);
	leader->cgroup_slices =
		map_once(leader, LEADER_CGROUP_SLICES,
			 leader->nr_cpus * sizeof(*leader->cgroup_slices), leader->cgroup_slices);
	return leader->cgroup_clock && leader->pool && leader->cgroups && leader->cgroup_slices ?
		       0 :
		       -errno;
}

static void unmap_tables(struct bperf_leader *leader)
{
	unmap_table(leader->cgroup_clock, sizeof(*leader->cgroup_clock));
	unmap_table(leader->pool, MAX_POOL_ENTRIES * sizeof(*leader->pool));
	unmap_table(leader->cgroups, MAX_CGROUPS * sizeof(*leader->cgroups));
	unmap_table(leader->cpus, leader->nr_cpus * sizeof(*leader->cpus));
	unmap_table(leader->buckets, sizeof(struct task_bucket) << BUCKET_BITS);
	unmap_table(leader->walk, sizeof(*leader->walk));
	unmap_table(leader->transitions, MAX_SCOPE_SETS * sizeof(*leader->transitions));
	unmap_table(leader->scope_sets.scope_set, MAX_SCOPE_SETS * sizeof(struct reg_scope_set));
	unmap_table(leader->scope_sets.set, MAX_SETS * sizeof(struct reg_set));
	unmap_table(leader->task_slices, leader->nr_cpus * sizeof(*leader->task_slices));
	unmap_table(leader->cgroup_slices, leader->nr_cpus * sizeof(*leader->cgroup_slices));
}

static void unmap_ring(struct wakeup_ring *ring)
{
	size_t page = sysconf(_SC_PAGESIZE);

	if (ring->seen)
		munmap(ring->seen, page);
	if (ring->made)
		munmap((void *)ring->made, page);
}

/* --- its life in this process --- */

struct bperf_leader *bperf_leader__new(struct attr_map *attr_map)
{
	struct bperf_leader *leader = calloc(1, sizeof(*leader));

	if (!leader)
		return NULL;
	leader->attr_map = attr_map;
	leader->link_fd = -1;
	leader->hotplug_link_fd = -1;
	leader->token_fd = -1;
	leader->session = -1;
	memset(leader->map_fds, -1, sizeof(leader->map_fds));
	memset(leader->prog_fds, -1, sizeof(leader->prog_fds));
	memset(leader->task_link_fds, -1, sizeof(leader->task_link_fds));
	return leader;
}

void bperf_leader__delete(struct bperf_leader *leader)
{
	if (!leader)
		return;
	for (int i = 0; i < NR_TASK_LINKS; i++)
		close_fd(&leader->task_link_fds[i]);
	unmap_tables(leader);
	leader_sums__unmap(leader);
	unmap_ring(&leader->wakeups);
	unmap_ring(&leader->created);
	free(leader->watch);
	if (leader->readings)
		munmap(leader->readings, readings_size(leader));
	if (leader->registry)
		munmap(leader->registry, bpf_info__page_up(sizeof(*leader->registry)));
	close_fd(&leader->token_fd);
	close_fd(&leader->link_fd);
	close_fd(&leader->hotplug_link_fd);
	for (int i = 0; i < NR_LEADER_PROGS; i++)
		close_fd(&leader->prog_fds[i]);
	for (int i = 0; i < NR_LEADER_MAPS; i++)
		close_fd(&leader->map_fds[i]);
	free(leader);
}

/* --- questions and switches --- */

/* At once: on_hotplug may set a reason at any time, and this process may be stopped or killed. */
void bperf_leader__set_cpu_mode(struct bperf_leader *leader, int cpu, __u32 mode, bool on)
{
	const __u32 reasons = MODE_DEAD | MODE_FOREIGN;
	__u32 *word = &leader->cpus[cpu].mode;
	__u32 before = __atomic_load_n(word, __ATOMIC_RELAXED), after;

	do {
		after = on ? before | mode : before & ~mode;
		after = after & reasons ? after | MODE_CAREFUL : after & ~MODE_CAREFUL;
	} while (!__atomic_compare_exchange_n(word, &before, after, false, __ATOMIC_SEQ_CST,
					      __ATOMIC_SEQ_CST));
}

void bperf_leader__set_mode(struct bperf_leader *leader, __u32 mode, bool on)
{
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		bperf_leader__set_cpu_mode(leader, cpu, mode, on);
}

/* --- for other rooms --- */

const struct registry *bperf_leader__registry(const struct bperf_leader *leader)
{
	return leader->registry;
}

const struct scope_tables *bperf_leader__scope_tables(const struct bperf_leader *leader)
{
	return &leader->scope_sets;
}

int bperf_leader__nr_cpus(const struct bperf_leader *leader)
{
	return leader->nr_cpus;
}

const __u64 *bperf_leader__seq(const struct bperf_leader *leader, int cpu)
{
	return &leader->cpus[cpu].seq;
}

bool bperf_leader__is_serving(const struct bperf_leader *leader)
{
	return leader->registry->is_serving;
}

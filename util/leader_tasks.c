// SPDX-License-Identifier: GPL-2.0
#include "leader_tasks.h"

#include "capability.h"
#include "classes.h"
#include "leader.h"
#include "leader_links.h"
#include "util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* --- memory --- */

static struct sum_block *find_block(void *ctx, int chunk, int cpu)
{
	struct leader *leader = ctx;
	size_t size = leader__page_up(leader->nr_cpus * sizeof(struct sum_block));

	if (!leader->chunks[chunk] && leader->registry->chunk_ids[chunk]) {
		int fd __cleanup(close_fd) = -1;

		/* Others can have made it while we were counting. */
		capability__raise();
		fd = bpf_map_get_fd_by_id(leader->registry->chunk_ids[chunk]);
		capability__lower();
		leader->chunks[chunk] = leader__map_memory(fd, size, PROT_READ | PROT_WRITE);
	}
	return leader->chunks[chunk] ? &leader->chunks[chunk][cpu] : NULL;
}

int leader_tasks__new_chunk(int nr_cpus)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "sums", sizeof(__u32),
				sizeof(struct sum_block), nr_cpus, &opts);

	return fd < 0 ? -errno : fd;
}

/* The map of maps keeps it; a chunk stays as long as the leader. */
static int add_chunk(void *ctx, int chunk)
{
	struct leader *leader = ctx;
	struct bpf_map_info info = {};
	__u32 len = sizeof(info), key = chunk;
	int fd __cleanup(close_fd) = leader_tasks__new_chunk(leader->nr_cpus);

	if (fd < 0)
		return fd;
	if (bpf_obj_get_info_by_fd(fd, &info, &len) ||
	    bpf_map_update_elem(leader->map_fds[LEADER_SUMS], &key, &fd, BPF_ANY))
		return -errno;
	leader->registry->chunk_ids[chunk] = info.id;
	return find_block(leader, chunk, 0) ? 0 : -ENOMEM;
}

static void *map_table(const struct leader *leader, enum leader_map map, size_t size)
{
	return leader__map_memory(leader->map_fds[map], leader__page_up(size),
				  PROT_READ | PROT_WRITE);
}

static void unmap_table(void *table, size_t size)
{
	if (table)
		munmap(table, leader__page_up(size));
}

int leader_tasks__map(struct leader *leader)
{
	struct classes *c = &leader->classes;

	leader->cpus = map_table(leader, LEADER_CPUS, leader->nr_cpus * sizeof(*leader->cpus));
	leader->buckets = map_table(leader, LEADER_BUCKETS, sizeof(struct task_bucket) << BUCKET_BITS);
	leader->marking = map_table(leader, LEADER_MARKING, sizeof(*leader->marking));
	leader->counts = map_table(leader, LEADER_COUNTS, sizeof(*leader->counts));
	leader->cgroup_clock = map_table(leader, LEADER_CLOCK, sizeof(*leader->cgroup_clock));
	leader->newborns = map_table(leader, LEADER_NEWBORNS,
				     MAX_NEWBORNS * sizeof(*leader->newborns));
	leader->cgroups = map_table(leader, LEADER_CGROUPS,
				    MAX_CGROUPS * sizeof(*leader->cgroups));
	c->reg = leader->registry;
	c->class = map_table(leader, LEADER_CLASSES, MAX_CLASSES * sizeof(*c->class));
	c->set = map_table(leader, LEADER_SETS, MAX_SETS * sizeof(*c->set));
	c->nr_cpus = leader->nr_cpus;
	c->block = find_block;
	c->add_chunk = add_chunk;
	c->step = leader__step;
	c->ctx = leader;
	return leader->cpus && leader->buckets && leader->marking && leader->counts &&
			       leader->cgroup_clock && leader->newborns && leader->cgroups && c->class && c->set ?
		       0 :
		       -ENOMEM;
}

void leader_tasks__detach(struct leader *leader)
{
	leader_links__close(leader);
	unmap_table(leader->cgroup_clock, sizeof(*leader->cgroup_clock));
	unmap_table(leader->newborns, MAX_NEWBORNS * sizeof(*leader->newborns));
	unmap_table(leader->cgroups, MAX_CGROUPS * sizeof(*leader->cgroups));
	unmap_table(leader->cpus, leader->nr_cpus * sizeof(*leader->cpus));
	unmap_table(leader->buckets, sizeof(struct task_bucket) << BUCKET_BITS);
	unmap_table(leader->marking, sizeof(*leader->marking));
	unmap_table(leader->counts, sizeof(*leader->counts));
	unmap_table(leader->classes.class, MAX_CLASSES * sizeof(struct reg_class));
	unmap_table(leader->classes.set, MAX_SETS * sizeof(struct reg_set));
	for (int i = 0; i < MAX_CHUNKS; i++)
		unmap_table(leader->chunks[i], leader->nr_cpus * sizeof(struct sum_block));
}

/* --- sync --- */

int leader_tasks__sync(struct leader *leader, bool (*is_wanted)(void *ctx, int class), void *ctx)
{
	const uint64_t no_events[MASK_WORDS] = {};

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		__u32 class = __atomic_load_n(&leader->cpus[cpu].class[OF_TASK],
					      __ATOMIC_ACQUIRE);
		int err;

		if (is_wanted && !is_wanted(ctx, class))
			continue;
		err = leader__sync(leader, cpu, no_events, true);
		leader__step("synced");
		/* An offline CPU runs nothing; one that went while a class ran there stopped then. */
		if (err && err != -ENXIO)
			return err;
	}
	return 0;
}

/* The kernel waits for that when a map of maps is changed. */
int leader_tasks__wait(void)
{
	int inner __cleanup(close_fd) = bpf_map_create(BPF_MAP_TYPE_ARRAY, "perf_wait",
						       sizeof(__u32), sizeof(__u32), 1, NULL);
	LIBBPF_OPTS(bpf_map_create_opts, opts, .inner_map_fd = inner);
	int outer __cleanup(close_fd) = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "perf_waits",
						       sizeof(__u32), sizeof(__u32), 1, &opts);
	__u32 key = 0;

	if (inner < 0 || outer < 0 || bpf_map_update_elem(outer, &key, &inner, BPF_ANY))
		return -errno;
	leader__step("waited");
	return 0;
}

__u64 leader_tasks__lost(const struct leader *leader)
{
	__u64 lost = leader->counts->failed_inserts;

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		lost += leader->cpus[cpu].failed_reads + leader->cpus[cpu].lost;
	return lost + leader_links__skipped(leader);
}

/* --- following --- */

int leader_tasks__purge(struct leader *leader)
{
	struct classes *c = &leader->classes;
	__u64 task;
	int err;

	/* Nobody ever has: there is nothing to look for. */
	if (leader->registry->nr_scopes == 1)
		return 0;
	leader__set_mode(leader, MODE_TASKS, false);
	/* A link's id goes before its program is detached: what still runs could write after us. */
	err = leader_tasks__wait();
	if (err)
		return err;
	while (!bpf_map_get_next_key(leader->map_fds[LEADER_TASKS], NULL, &task)) {
		if (bpf_map_delete_elem(leader->map_fds[LEADER_TASKS], &task) && errno != ENOENT)
			return -errno;
	}
	memset(leader->buckets, 0, sizeof(struct task_bucket) << BUCKET_BITS);
	leader__step("buckets-emptied");
	err = leader_tasks__sync(leader, NULL, NULL);
	if (err)
		return err;
	/* Whatever an offline CPU ran when nobody looked, it does not any more. */
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		leader->cpus[cpu].class[OF_TASK] = 0;
	for (__u32 i = 1; i < leader->registry->nr_classes; i++) {
		if (c->class[i].state != REG_FREE && !classes__of_cgroups(c, i))
			err = classes__fold(c, i, 0);
		if (err)
			return err;
	}
	for (__u32 i = 1; i < leader->registry->nr_scopes; i++) {
		if (leader->registry->scope[i].run && !leader->registry->scope[i].cgroup)
			classes__free_scope(c, i);
	}
	return 0;
}

int leader_tasks__attach(struct leader *leader)
{
	int err = leader_links__take(leader, LINKS_TASKS);

	/* Any other error says nothing of the links: what others count must not be cleared. */
	if (err == -ENOENT) {
		err = leader_tasks__purge(leader);
		if (!err)
			err = leader_links__make(leader, LINKS_TASKS);
		if (!err)
			leader__set_mode(leader, MODE_TASKS, true);
	}
	return err;
}

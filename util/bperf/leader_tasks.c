// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/leader_tasks.h"

#include "util/bperf/crash_point.h"
#include "util/bperf/leader.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_links.h"
#include "util/bperf/leader_progs.h"
#include "util/bperf/leader_sync.h"
#include "util/bperf/scope_set.h"
#include "util/host/bpf_info.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* So many buckets show if the table is worth clearing. */
#define ENTRIES_SAMPLE 512

int leader_tasks__max(const struct bperf_leader *leader)
{
	struct bpf_map_info info;

	return bpf_info__map(leader->map_fds[LEADER_TASKS], &info) ? MAX_TASKS : info.max_entries;
}

__u64 leader_tasks__lost(const struct bperf_leader *leader)
{
	__u64 lost = 0;

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		lost += leader->cpus[cpu].lost;
	return lost + leader_links__skipped(leader);
}

__u64 leader_tasks__missed(const struct bperf_leader *leader)
{
	__u32 nr = scope_set__nr_scopes(leader->registry);
	__u64 missed = 0;

	for (__u32 i = 1; i < nr; i++) {
		const struct reg_scope *scope = &leader->registry->scope[i];

		if (scope->session == (__u32)leader->session + 1)
			missed += scope->missed;
	}
	return missed;
}

/*
 * True if a bucket counts more tasks than its own one: those are in `tasks`. To ask that table for its
 * first entry takes a million instructions if it is empty.
 */
static bool has_entries(const struct bperf_leader *leader)
{
	const struct task_bucket *bucket = leader->buckets;

	for (int i = 0; i < 1 << BUCKET_BITS; i++) {
		if (bucket[i].nr != !!bucket[i].task)
			return true;
	}
	return false;
}

static int delete_entries(const struct bperf_leader *leader)
{
	int fd = leader->map_fds[LEADER_TASKS];
	__u64 task;

	for (int i = 0; i < 2 * MAX_TASKS && !bpf_map_get_next_key(fd, NULL, &task); i++) {
		if (bpf_map_delete_elem(fd, &task) && errno != ENOENT)
			return -errno;
	}
	return 0;
}

/* Only when no program is attached that changes the buckets or `tasks`. */
static int forget_tasks(struct bperf_leader *leader)
{
	int err = bperf_leader__map_buckets(leader);

	if (!err && has_entries(leader))
		err = delete_entries(leader);
	if (err)
		return err;
	memset(leader->buckets, 0, sizeof(struct task_bucket) << BUCKET_BITS);
	crash_point__reach("buckets-emptied");
	return 0;
}

int leader_tasks__purge(struct bperf_leader *leader)
{
	struct scope_tables *c = &leader->scope_sets;
	__u32 nr_scopes = scope_set__nr_scopes(leader->registry), nr = scope_set__nr(c);
	int err;

	/* No session has ever counted tasks. */
	if (nr_scopes <= 1)
		return 0;
	/* A session that cleans up need not count tasks itself. */
	err = leader_progs__load(leader, PROGS_TASKS);
	/* A link's id goes before its program is detached: a program that still runs could write after us. */
	if (!err)
		err = leader_sync__wait();
	if (!err)
		err = forget_tasks(leader);
	if (!err)
		err = leader_sync__tasks(leader, NULL, NULL);
	if (err)
		return err;
	/* An offline CPU runs none of the tasks that it ran before. */
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		leader->cpus[cpu].scope_set[SCOPE_SET_TASK] = 0;
	for (__u32 i = 1; i < nr; i++) {
		if (c->scope_set[i].state != REG_FREE && !scope_set__of_cgroups(c, i))
			err = scope_set__merge_into(c, i, 0);
		if (err)
			return err;
	}
	for (__u32 i = 1; i < nr_scopes; i++) {
		if (leader->registry->scope[i].session && !leader->registry->scope[i].cgroup)
			scope_set__free_scope(c, i);
	}
	return 0;
}

/* True if tasks may be in scope sets that no session counts any more, as after a crash. */
static bool has_leftovers(const struct bperf_leader *leader)
{
	const struct scope_tables *c = &leader->scope_sets;
	__u32 nr_scopes = scope_set__nr_scopes(leader->registry), nr = scope_set__nr(c);

	for (__u32 i = 1; i < nr_scopes; i++) {
		if (leader->registry->scope[i].session && !leader->registry->scope[i].cgroup)
			return true;
	}
	for (__u32 i = 1; i < nr; i++) {
		if (c->scope_set[i].state != REG_FREE && !scope_set__of_cgroups(c, i))
			return true;
	}
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		if (leader->cpus[cpu].scope_set[SCOPE_SET_TASK])
			return true;
	}
	return false;
}

/*
 * True if many buckets hold tasks, most of which have ended since no program follows tasks. These entries
 * name no scope set, so a few do no harm. The buckets of the first pages stand for all: tasks are spread
 * evenly.
 */
static bool has_many_entries(const struct bperf_leader *leader)
{
	size_t size = bpf_info__page_up(ENTRIES_SAMPLE * sizeof(struct task_bucket));
	struct task_bucket *bucket =
		bpf_info__map_memory(leader->map_fds[LEADER_BUCKETS], size, PROT_READ);
	int nr = 0;

	if (!bucket)
		return true;
	for (int i = 0; i < ENTRIES_SAMPLE; i++)
		nr += bucket[i].nr != 0;
	munmap(bucket, size);
	return nr > ENTRIES_SAMPLE / 64;
}

int leader_tasks__attach(struct bperf_leader *leader)
{
	int err = leader_progs__load(leader, PROGS_TASKS);

	if (!err)
		err = bperf_leader__map_scopes(leader);
	if (!err)
		err = bperf_leader__map_walk(leader);
	if (err)
		return err;
	err = leader_links__hold(leader, LINKS_TASKS);
	/* Any other error says nothing of the links: what others count must not be cleared. */
	if (err == -ENOENT) {
		err = has_leftovers(leader) || has_many_entries(leader) ?
			      leader_tasks__purge(leader) :
			      0;
		if (!err)
			err = leader_links__make(leader, LINKS_TASKS);
	}
	return err;
}

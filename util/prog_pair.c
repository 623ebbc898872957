// SPDX-License-Identifier: GPL-2.0
#include "prog_pair.h"

#include "bpf_target.h"
#include "leader.h"
#include "leader_tasks.h"
#include "leader_foreign.h"
#include "leader_tasks.h"
#include "msg.h"
#include "task_btf.h"
#include "util.h"

#include "bpf_skel/prog_pair.skel.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#ifndef ENOTSUPP
#define ENOTSUPP 524		/* the kernel's own, not for user space, and yet seen there */
#endif

static size_t cpus_size(int nr_cpus)
{
	return leader__page_up(nr_cpus * sizeof(struct prog_cpu));
}

static void init(struct prog_pair *pair)
{
	memset(pair, 0, sizeof(*pair));
	pair->idx = -1;
	memset(pair->link_fds, -1, sizeof(pair->link_fds));
	memset(pair->prog_fds, -1, sizeof(pair->prog_fds));
}

void prog_pair__put(struct prog_pair *pair)
{
	for (int i = 0; i < NR_PAIR_LINKS; i++) {
		close_fd(&pair->link_fds[i]);
		close_fd(&pair->prog_fds[i]);
	}
	if (pair->plan)
		munmap(pair->plan, leader__page_up(sizeof(*pair->plan)));
	if (pair->cpus)
		munmap(pair->cpus, cpus_size(pair->nr_cpus));
	pair->plan = NULL;
	pair->cpus = NULL;
	pair->idx = -1;
}

/* --- the registry --- */

static void set_user(struct reg_pair *entry, int run, bool on)
{
	__u64 bit = 1ULL << run % 64, *word = &entry->users[run / 64];

	__atomic_store_n(word, on ? *word | bit : *word & ~bit, __ATOMIC_RELEASE);
}

static bool is_user(const struct reg_pair *entry, int run)
{
	return entry->users[run / 64] >> run % 64 & 1;
}

static bool has_users(const struct reg_pair *entry)
{
	for (int w = 0; w < MAX_RUNS / 64; w++) {
		if (entry->users[w])
			return true;
	}
	return false;
}

static void free_entry(struct reg_pair *entry)
{
	__atomic_store_n(&entry->prog_id, 0, __ATOMIC_RELEASE);
	memset(entry->users, 0, sizeof(entry->users));
}

static struct prog_plan *map_plan(int fd)
{
	return leader__map_memory(fd, leader__page_up(sizeof(struct prog_plan)),
				  PROT_READ | PROT_WRITE);
}

static bool is_foreign(void *ctx, int slot)
{
	return leader_foreign__has(ctx, slot);
}

/* Bring the plan of a pair, ours or not, in line with its users; gone: there is nothing to do. */
static void update_plan(struct leader *leader, struct reg_pair *entry)
{
	int fd __cleanup(close_fd) = bpf_map_get_fd_by_id(entry->map_ids[PAIR_PLAN]);
	struct prog_plan *plan = fd < 0 ? NULL : map_plan(fd);
	bool is_new = false;

	if (!plan)
		return;
	prog_plan__update(leader->registry, entry, plan, is_foreign, leader, &is_new);
	munmap(plan, leader__page_up(sizeof(*plan)));
}

/* Columns go before their events: a pair must not read what is being closed. */
static void drop_user(struct leader *leader, struct reg_pair *entry, int run)
{
	set_user(entry, run, false);
	leader__step("pair-left");
	update_plan(leader, entry);
	if (!has_users(entry))
		free_entry(entry);
}

void prog_pairs__leave(struct leader *leader, int run)
{
	for (int i = 0; i < MAX_PAIRS; i++) {
		struct reg_pair *entry = &leader->registry->pair[i];

		if (entry->prog_id && is_user(entry, run))
			drop_user(leader, entry, run);
	}
}

void prog_pairs__repair(struct leader *leader)
{
	struct registry *reg = leader->registry;

	for (int i = 0; i < MAX_PAIRS; i++) {
		struct reg_pair *entry = &reg->pair[i];

		if (!entry->prog_id)
			continue;
		for (int run = 0; run < MAX_RUNS; run++) {
			if (is_user(entry, run) &&
			    (!reg->run[run].token || !leader__is_run_alive(reg->run[run].token)))
				set_user(entry, run, false);
		}
		update_plan(leader, entry);
		if (!has_users(entry))
			free_entry(entry);
	}
}

static struct reg_pair *find_entry(struct registry *reg, __u32 prog_id)
{
	for (int i = 0; i < MAX_PAIRS; i++) {
		if (reg->pair[i].prog_id == prog_id)
			return &reg->pair[i];
	}
	return NULL;
}

/* --- taking and making --- */

static int take_link(struct prog_pair *pair, int which, __u32 id)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);

	pair->link_fds[which] = bpf_link_get_fd_by_id(id);
	if (pair->link_fds[which] < 0 ||
	    bpf_obj_get_info_by_fd(pair->link_fds[which], &info, &len))
		return -errno;
	pair->prog_fds[which] = bpf_prog_get_fd_by_id(info.prog_id);
	return pair->prog_fds[which] < 0 ? -errno : 0;
}

/* A pair that is there; -ENOENT: its last user has just gone. */
static int take(const struct leader *leader, const struct reg_pair *entry, struct prog_pair *pair)
{
	int plan __cleanup(close_fd) = bpf_map_get_fd_by_id(entry->map_ids[PAIR_PLAN]);
	int cpus __cleanup(close_fd) = bpf_map_get_fd_by_id(entry->map_ids[PAIR_CPUS]);
	int err = 0;

	for (int i = 0; i < NR_PAIR_LINKS && !err; i++)
		err = take_link(pair, i, entry->link_ids[i]);
	if (!err && (plan < 0 || cpus < 0))
		err = -ENOENT;
	if (err)
		return err;
	pair->nr_cpus = leader->nr_cpus;
	pair->plan = map_plan(plan);
	pair->cpus = leader__map_memory(cpus, cpus_size(pair->nr_cpus), PROT_READ);
	if (!pair->plan || !pair->cpus)
		return -ENOMEM;
	pair->idx = entry - leader->registry->pair;
	return 0;
}

/* The types that probes need, for the loader; -1: it has to look for itself. */
static int task_types(struct leader *leader)
{
	__u32 *offsets = leader->registry->switch_offsets, found[2];

	if (!offsets[0] || !offsets[1]) {
		if (task_btf__find(found))
			return -1;
		memcpy(offsets, found, sizeof(found));
	}
	return task_btf__new(offsets);
}

static int open_and_load(struct leader *leader, const struct bpf_target *target,
			 struct prog_pair_bpf **out)
{
	int types __cleanup(close_fd) = task_types(leader);
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	struct prog_pair_bpf *skel;
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", types);
	if (types >= 0)
		opts.btf_custom_path = path;
	skel = prog_pair_bpf__open_opts(&opts);

	if (!skel)
		return -errno;
	bpf_map__set_max_entries(skel->maps.prog_cpus, leader->nr_cpus);
	bpf_map__set_max_entries(skel->maps.prog_frames, MAX_FRAMES(leader->nr_cpus));
	err = bpf_map__reuse_fd(skel->maps.events, leader->map_fds[LEADER_EVENTS]);
	if (!err)
		err = bpf_map__reuse_fd(skel->maps.foreign, leader->map_fds[LEADER_FOREIGN]);
	if (!err)
		err = bpf_map__reuse_fd(skel->maps.cpus, leader->map_fds[LEADER_CPUS]);
	if (!err)
		err = bpf_program__set_attach_target(skel->progs.on_enter, target->fd, target->name);
	if (!err)
		err = bpf_program__set_attach_target(skel->progs.on_leave, target->fd, target->name);
	if (!err)
		err = prog_pair_bpf__load(skel);
	if (err)
		prog_pair_bpf__destroy(skel);
	else
		*out = skel;
	return err;
}

static int map_id(const struct bpf_map *map, __u32 *id)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_map__fd(map), &info, &len))
		return -errno;
	*id = info.id;
	return 0;
}

static int attach(const struct bpf_program *prog, struct bpf_link **link, __u32 *id)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);

	*link = bpf_program__attach_trace(prog);
	if (!*link || bpf_obj_get_info_by_fd(bpf_link__fd(*link), &info, &len))
		return -errno;
	*id = info.id;
	return 0;
}

static void explain(const struct bpf_target *target, int err)
{
	const char *why = strerror(-err);
	char *known __cleanup(free_ptr) = NULL;

	switch (-err) {
	case ENOTSUPP:
	case EOPNOTSUPP:
		why = "this kernel cannot attach probes to BPF programs (x86-64: Linux 5.5, arm64: 6.0; or its hypervisor forbids it)";
		break;
	case EBUSY:
		why = "another program replaces it (freplace), which excludes probes";
		break;
	case E2BIG:
		why = "as many probes as the kernel allows are attached to it already";
		break;
	case EPERM:
		why = "not permitted (run as root)";
		break;
	default:
		known = bpf_target__why_not(target);
		why = known ? known : why;
	}
	pr_err("cannot count '%s' (id %u): %s", target->name, target->id, why);
}

/* A pair of our own making is taken like any other: by its ids. */
static int make(struct leader *leader, const struct bpf_target *target, struct reg_pair *entry,
		struct prog_pair *pair)
{
	struct bpf_link *links[NR_PAIR_LINKS] = {};
	struct prog_pair_bpf *skel;
	int err;

	err = open_and_load(leader, target, &skel);
	if (err)
		return err;
	/* Who enters without being seen leaving is worse than the other way round. */
	err = attach(skel->progs.on_leave, &links[PAIR_LEAVE], &entry->link_ids[PAIR_LEAVE]);
	if (!err)
		err = attach(skel->progs.on_enter, &links[PAIR_ENTER], &entry->link_ids[PAIR_ENTER]);
	if (!err)
		err = map_id(skel->maps.bss, &entry->map_ids[PAIR_PLAN]);
	if (!err)
		err = map_id(skel->maps.prog_cpus, &entry->map_ids[PAIR_CPUS]);
	leader__step("pair-attached");
	if (!err)
		err = take(leader, entry, pair);
	if (!err) {
		memset(entry->users, 0, sizeof(entry->users));
		__atomic_store_n(&entry->prog_id, target->id, __ATOMIC_RELEASE);
		leader__step("pair-written");
	}
	for (int i = 0; i < NR_PAIR_LINKS; i++)
		bpf_link__destroy(links[i]);
	prog_pair_bpf__destroy(skel);
	return err;
}

/* The pair of a program, or a new one. */
static int find_or_make(struct leader *leader, const struct bpf_target *target,
			struct prog_pair *pair)
{
	struct reg_pair *entry = find_entry(leader->registry, target->id);
	int err = entry ? take(leader, entry, pair) : -ENOENT;

	if (!err || err == -ENOMEM)
		return err;
	prog_pair__put(pair);
	if (entry)
		free_entry(entry);
	entry = find_entry(leader->registry, 0);
	if (!entry)
		return -ENOSPC;
	return make(leader, target, entry, pair);
}

int prog_pair__join(struct leader *leader, const struct bpf_target *target, struct prog_pair *pair)
{
	struct reg_pair *entry;
	bool is_new = false, was_used;
	int err;

	init(pair);
	err = find_or_make(leader, target, pair);
	if (err == -ENOSPC)
		pr_err("cannot count '%s' (id %u): %d BPF programs are counted already, the most there can be",
		       target->name, target->id, MAX_PAIRS);
	else if (err)
		explain(target, err);
	if (err) {
		prog_pair__put(pair);
		return err;
	}
	entry = &leader->registry->pair[pair->idx];
	was_used = has_users(entry);
	set_user(entry, leader->run, true);
	leader__step("pair-joined");
	err = prog_plan__update(leader->registry, entry, pair->plan, is_foreign, leader, &is_new);
	/* Executions may still be adding to a column what its event before counted. */
	if (!err && is_new && was_used)
		err = leader_tasks__wait();
	if (!err)
		return 0;
	if (err == -ENOSPC)
		pr_err("cannot count '%s' (id %u): more than %d events would be counted there, by all runs together",
		       target->name, target->id, MAX_COLUMNS);
	else
		pr_err("cannot count '%s' (id %u): %s", target->name, target->id, strerror(-err));
	drop_user(leader, entry, leader->run);
	prog_pair__put(pair);
	return err;
}

/* --- reading --- */

__u64 prog_pair__unseen(const struct prog_pair *pair)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	return bpf_obj_get_info_by_fd(pair->prog_fds[PAIR_LEAVE], &info, &len) ?
		       0 : info.recursion_misses;
}

void prog_pair__copy(const struct prog_pair *pair, int cpu, struct prog_cpu *out)
{
	const struct prog_cpu *from = &pair->cpus[cpu];
	__u64 seq;

	/* Where programs can be preempted the writer may need this CPU to go on. */
	for (int tries = 0;; tries++) {
		seq = __atomic_load_n(&from->seq, __ATOMIC_ACQUIRE);
		if (!(seq & 1)) {
			memcpy(out, from, offsetof(struct prog_cpu, is_leaving));
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			if (__atomic_load_n(&from->seq, __ATOMIC_RELAXED) == seq)
				return;
		}
		if (tries % 100 == 99)
			sched_yield();
	}
}

// SPDX-License-Identifier: GPL-2.0
#include "util/sample/sample_object.h"

#include "util/bperf/crash_point.h"
#include "util/bperf/kernel_btf.h"
#include "util/bperf/leader.h"
#include "util/bperf/leader_progs.h"
#include "util/bperf/leader_sample.h"
#include "util/bperf/prog_load.h"
#include "util/host/bpf_info.h"
#include "util/host/perf_event.h"
#include "util/host/prog_maps.h"
#include "util/lib/util.h"

#include "bpf_skel/sample.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SYNC_TRIES   1000
#define SYNC_WAIT_US 100

/* --- its maps --- */

struct part {
	__u32 type;
	__u32 value_size;
	__u32 max_entries;
	bool is_per_cpu;
	__u32 flags;
};

/* As in bpf_skel/sample.bpf.c. An object of our own making is also checked. */
static const struct part parts[NR_SAMPLE_MAPS] = {
	[SAMPLE_EVENTS] = {BPF_MAP_TYPE_PERF_EVENT_ARRAY, sizeof(__u32), MAX_SAMPLE_SLOTS, true,
			   BPF_F_PRESERVE_ELEMS},
	[SAMPLE_PLAN] = {BPF_MAP_TYPE_ARRAY, sizeof(struct sample_plan), 1, false, BPF_F_MMAPABLE},
	[SAMPLE_CPUS] = {BPF_MAP_TYPE_ARRAY, sizeof(struct sample_cpu), 1, true, BPF_F_MMAPABLE},
	[SAMPLE_TABLES] = {BPF_MAP_TYPE_ARRAY_OF_MAPS, sizeof(__u32), MAX_SAMPLERS, false, 0},
	[SAMPLE_RECORDS] = {BPF_MAP_TYPE_ARRAY_OF_MAPS, sizeof(__u32), MAX_SAMPLERS, false, 0},
};

static int check_map(enum sample_map map, int fd, int nr_cpus)
{
	const struct part *part = &parts[map];
	struct bpf_map_info info;

	if (bpf_info__map(fd, &info))
		return -errno;
	return info.type == part->type && info.key_size == sizeof(__u32) &&
			       info.value_size == part->value_size &&
			       info.max_entries ==
				       part->max_entries * (part->is_per_cpu ? nr_cpus : 1) &&
			       info.map_flags == part->flags ?
		       0 :
		       -EPROTO;
}

static void list_maps(const struct sample_bpf *skel, const struct bpf_map *maps[NR_SAMPLE_MAPS])
{
	maps[SAMPLE_EVENTS] = skel->maps.sample_events;
	maps[SAMPLE_PLAN] = skel->maps.bss;
	maps[SAMPLE_CPUS] = skel->maps.sample_cpus;
	maps[SAMPLE_TABLES] = skel->maps.sample_tables;
	maps[SAMPLE_RECORDS] = skel->maps.sample_records;
}

int sample_object__new_table(int nr_cpus)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "perf_samples", sizeof(__u32),
				sizeof(struct sample_table), nr_cpus, &opts);

	return fd < 0 ? -errno : fd;
}

int sample_object__new_records(int nr_cpus, uint32_t size)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE | BPF_F_INNER_MAP);
	uint64_t nr = 2ULL * nr_cpus * size;
	int fd;

	if (nr > UINT32_MAX)
		return -E2BIG;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "perf_records", sizeof(__u32),
			    sizeof(struct sample_record), nr, &opts);
	return fd < 0 ? -errno : fd;
}

/* --- loading --- */

/* Take the leader's maps in place of those that only name them. */
static int reuse_leader(struct sample_bpf *skel, const struct bperf_leader *leader)
{
	int err = bpf_map__reuse_fd(skel->maps.cpus, leader_sample__map_fd(leader, LEADER_CPUS));

	if (!err)
		err = bpf_map__reuse_fd(skel->maps.registry,
					leader_sample__map_fd(leader, LEADER_REGISTRY));
	if (!err)
		err = bpf_map__reuse_fd(skel->maps.scope_sets,
					leader_sample__map_fd(leader, LEADER_SCOPE_SETS));
	if (!err)
		err = bpf_map__reuse_fd(skel->maps.wakeups,
					leader_sample__map_fd(leader, LEADER_WAKEUPS));
	/* Maps of other parts of the leader; no program here uses them. */
	if (!err)
		err = bpf_map__set_autocreate(skel->maps.events, false);
	return err ? err : bpf_map__set_autocreate(skel->maps.foreign, false);
}

/* @table: an example of a session's: libbpf up to 1.4 has no other way to size them */
static int set_sizes(struct sample_bpf *skel, int nr_cpus, int table)
{
	bpf_map__set_max_entries(skel->maps.sample_events, MAX_SAMPLE_SLOTS * nr_cpus);
	bpf_map__set_max_entries(skel->maps.sample_cpus, nr_cpus);
	skel->rodata->nr_cpus = nr_cpus;
	return bpf_map__set_inner_map_fd(skel->maps.sample_tables, table);
}

static int bind(const struct sample_bpf *skel, const struct bpf_map *map)
{
	int sync = bpf_program__fd(skel->progs.on_sample_sync);

	return bpf_prog_bind_map(sync, bpf_map__fd(map), NULL) ? -errno : 0;
}

/* Write the ids into the registry; the program's goes last. */
static int publish(struct reg_sample *place, const struct sample_bpf *skel)
{
	const struct bpf_map *maps[NR_SAMPLE_MAPS];
	struct reg_sample ids = {};
	int err = bpf_info__prog_id(bpf_program__fd(skel->progs.on_sample_sync), &ids.prog_id);

	list_maps(skel, maps);
	for (int i = 0; i < NR_SAMPLE_MAPS && !err; i++)
		err = bpf_info__map_id(bpf_map__fd(maps[i]), &ids.map_ids[i]);
	/* on_sample_sync does not use these two; a map that is bound to it is one of its maps. */
	if (!err)
		err = bind(skel, skel->maps.bss);
	if (!err)
		err = bind(skel, skel->maps.sample_records);
	if (err)
		return err;
	place->prog_id = 0;
	memcpy(place->map_ids, ids.map_ids, sizeof(ids.map_ids));
	crash_point__reach("sample-maps-written");
	__atomic_store_n(&place->prog_id, ids.prog_id, __ATOMIC_RELEASE);
	crash_point__reach("sample-object-written");
	return 0;
}

static int open_skel(struct sample_bpf **out)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	int err = prog_load__set_types(&opts);

	if (err)
		return err;
	prog_load__begin();
	*out = sample_bpf__open_opts(&opts);
	return *out ? 0 : -errno;
}

static int load(struct sample_object *object, struct sample_bpf **out)
{
	int table __cleanup(close_fd) = sample_object__new_table(object->nr_cpus), err;
	struct sample_bpf *skel;

	if (table < 0)
		return table;
	err = open_skel(&skel);
	if (err)
		return err;
	err = reuse_leader(skel, object->leader);
	if (!err)
		err = set_sizes(skel, object->nr_cpus, table);
	if (!err)
		err = sample_bpf__load(skel);
	if (!err)
		err = publish(leader_sample__place(object->leader), skel);
	if (err)
		sample_bpf__destroy(skel);
	else
		*out = skel;
	return err;
}

/* --- finding --- */

static int take_map(struct sample_object *object, const struct prog_maps *maps, enum sample_map map)
{
	__u32 id = leader_sample__place(object->leader)->map_ids[map];

	if (!prog_maps__has(maps, id))
		return -EPROTO;
	object->map_fds[map] = bpf_map_get_fd_by_id(id);
	if (object->map_fds[map] < 0)
		return -errno;
	return check_map(map, object->map_fds[map], object->nr_cpus);
}

static int map_memory(struct sample_object *object)
{
	object->plan = bpf_info__map_memory(object->map_fds[SAMPLE_PLAN],
					    bpf_info__page_up(sizeof(*object->plan)),
					    PROT_READ | PROT_WRITE);
	if (!object->plan)
		return -errno;
	object->cpus = bpf_info__map_memory(
		object->map_fds[SAMPLE_CPUS],
		bpf_info__page_up(object->nr_cpus * sizeof(*object->cpus)), PROT_READ | PROT_WRITE);
	return object->cpus ? 0 : -errno;
}

/* Return: 0; -ENOENT: the last session that sampled has ended; other -errno. */
static int find(struct sample_object *object)
{
	__u32 id =
		__atomic_load_n(&leader_sample__place(object->leader)->prog_id, __ATOMIC_ACQUIRE);
	struct prog_maps maps = {};
	int err;

	if (!id)
		return -ENOENT;
	object->sync_fd = bpf_prog_get_fd_by_id(id);
	if (object->sync_fd < 0)
		return -errno;
	err = prog_maps__read(&maps, object->sync_fd);
	for (int i = 0; i < NR_SAMPLE_MAPS && !err; i++)
		err = take_map(object, &maps, i);
	prog_maps__clear(&maps);
	return err ? err : map_memory(object);
}

int sample_object__open(struct sample_object *object, struct bperf_leader *leader)
{
	struct sample_bpf *skel = NULL;
	int err;

	*object = (struct sample_object){
		.leader = leader, .nr_cpus = bperf_leader__nr_cpus(leader), .sync_fd = -1};
	memset(object->map_fds, -1, sizeof(object->map_fds));
	err = leader_sample__need_maps(leader);
	if (!err)
		err = find(object);
	/* An object that is not ours by its looks is left alone, as a leader would be; we make our own. */
	if (err == -ENOENT || err == -EPROTO) {
		sample_object__close(object);
		err = load(object, &skel);
		if (!err)
			err = find(object);
	}
	sample_bpf__destroy(skel);
	if (err && err != -ENOMEM)
		leader_progs__explain(err);
	return err;
}

static int reuse_own(const struct sample_object *object, struct sample_bpf *skel)
{
	int err = bpf_map__reuse_fd(skel->maps.bss, object->map_fds[SAMPLE_PLAN]);

	if (!err)
		err = bpf_map__reuse_fd(skel->maps.sample_cpus, object->map_fds[SAMPLE_CPUS]);
	if (!err)
		err = bpf_map__reuse_fd(skel->maps.sample_tables, object->map_fds[SAMPLE_TABLES]);
	if (!err)
		err = bpf_map__reuse_fd(skel->maps.sample_records, object->map_fds[SAMPLE_RECORDS]);
	return err ? err : bpf_map__set_autocreate(skel->maps.sample_events, false);
}

/* Most events weigh their period, and the kernel drops samples of other modes itself. */
static void set_special(struct sample_bpf *skel, const struct sample_slot *slot)
{
	struct perf_event_attr attr;

	memcpy(&attr, slot->key.bytes, sizeof(attr));
	if (perf_event__is_clock(&attr)) {
		skel->rodata->own.skips_user = attr.exclude_user;
		skel->rodata->own.skips_kernel = attr.exclude_kernel;
	} else if (attr.type == PERF_TYPE_SOFTWARE) {
		skel->rodata->own.weighs_count = slot->class == SAMPLE_CLASS_FREQ;
	}
	skel->rodata->own.is_special = skel->rodata->own.skips_user ||
				       skel->rodata->own.skips_kernel ||
				       skel->rodata->own.weighs_count;
}

/* Run on_sample_sync, when no other session's is under way there. Return: 0 or -errno. */
static int run_sync(const struct sample_object *object, struct bpf_test_run_opts *opts)
{
	for (int i = 0; i < SYNC_TRIES; i++) {
		if (bpf_prog_test_run_opts(object->sync_fd, opts)) {
			if (errno == EINTR || errno == EAGAIN)
				continue;
			return -errno;
		}
		if (opts->retval)
			return 0;
		/* A sample or another session's sync is under way there. */
		if (i < SYNC_TRIES / 10)
			sched_yield();
		else
			usleep(SYNC_WAIT_US);
	}
	return -EBUSY;
}

/* Clocks sample in the interrupt of a timer, and hardware in one of its own. */
static bool is_interruptible(const struct sample_slot *slot)
{
	struct perf_event_attr attr;

	memcpy(&attr, slot->key.bytes, sizeof(attr));
	return attr.type == PERF_TYPE_BREAKPOINT ||
	       (attr.type == PERF_TYPE_SOFTWARE && !perf_event__is_clock(&attr));
}

static struct bpf_program *choose_prog(const struct sample_bpf *skel,
				       const struct sample_slot *slot, bool sees_gaps)
{
	if (is_interruptible(slot))
		return sees_gaps ? skel->progs.on_soft_gaps : skel->progs.on_soft_sample;
	return sees_gaps ? skel->progs.on_sample_gaps : skel->progs.on_sample;
}

int sample_object__load_prog(const struct sample_object *object, int slot, uint32_t gen)
{
	const struct kernel_btf *types;
	struct bpf_program *prog;
	struct sample_bpf *skel;
	int err, fd = -1;

	err = prog_load__types(&types);
	if (!err)
		err = open_skel(&skel);
	if (err)
		return err;
	prog = choose_prog(skel, &object->plan->slot[slot], types->kernel_context_id);
	skel->rodata->nr_cpus = object->nr_cpus;
	skel->rodata->own.slot = slot;
	skel->rodata->own.gen = gen;
	set_special(skel, &object->plan->slot[slot]);
	err = reuse_leader(skel, object->leader);
	if (!err)
		err = reuse_own(object, skel);
	if (!err)
		err = bpf_program__set_autoload(skel->progs.on_sample_sync, false);
	if (!err)
		err = bpf_program__set_autoload(prog, true);
	if (!err)
		err = sample_bpf__load(skel);
	if (!err) {
		fd = fcntl(bpf_program__fd(prog), F_DUPFD_CLOEXEC, 3);
		err = fd < 0 ? -errno : 0;
	}
	sample_bpf__destroy(skel);
	return err ? err : fd;
}

int sample_object__sync(const struct sample_object *object, int cpu, int sampler, uint32_t ops,
			uint64_t slots)
{
	const uint64_t args[] = {sampler, ops, slots};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args),
		    .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

	return run_sync(object, &opts);
}

void sample_object__wake(const struct sample_object *object)
{
	const uint64_t args[] = {0, SAMPLE_WAKE, 0};
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));

	(void)run_sync(object, &opts);
}

static void unmap(void *memory, size_t size)
{
	if (memory)
		munmap(memory, bpf_info__page_up(size));
}

void sample_object__close(struct sample_object *object)
{
	unmap(object->plan, sizeof(*object->plan));
	unmap(object->cpus, object->nr_cpus * sizeof(*object->cpus));
	object->plan = NULL;
	object->cpus = NULL;
	for (int i = 0; i < NR_SAMPLE_MAPS; i++)
		close_fd(&object->map_fds[i]);
	close_fd(&object->sync_fd);
}

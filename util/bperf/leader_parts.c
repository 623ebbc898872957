// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/leader_parts.h"

#include "util/bperf/crash_point.h"
#include "util/host/bpf_info.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More CPUs than any kernel is built for (CONFIG_NR_CPUS is 8,192 at most). */
#define MAX_CPUS (1 << 16)

struct part {
	const char *name;
	__u32 type;
	__u32 key_size;
	__u32 value_size;
	__u32 max_entries;
	bool is_per_cpu; /* so many times the CPUs */
	__u32 flags;
};

#define NUMBERS(type, entries, is_per_cpu, flags)                                                  \
	type, sizeof(__u32), sizeof(__u32), entries, is_per_cpu, flags
#define ARRAY(value, entries, is_per_cpu)                                                          \
	BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(value), entries, is_per_cpu, BPF_F_MMAPABLE
#define TABLE(name, value, entries)                                                                \
	{                                                                                          \
		name, ARRAY(value, entries, false)                                                 \
	}
#define CPU_TABLE(name, value)                                                                     \
	{                                                                                          \
		name, ARRAY(value, 1, true)                                                        \
	}
#define HASH(name, key, value, entries, flags)                                                     \
	{                                                                                          \
		name, BPF_MAP_TYPE_HASH, sizeof(key), sizeof(value), entries, false, flags         \
	}
#define MAPS(name, entries)                                                                        \
	{                                                                                          \
		name, NUMBERS(BPF_MAP_TYPE_ARRAY_OF_MAPS, entries, false, 0)                       \
	}
#define PROGS(name)                                                                                \
	{                                                                                          \
		name, NUMBERS(BPF_MAP_TYPE_PROG_ARRAY, NR_LEADER_PROGS, false, 0)                  \
	}
#define RING(name)                                                                                 \
	{                                                                                          \
		name, BPF_MAP_TYPE_RINGBUF, 0, 0, 0, false, 0                                      \
	}

/* The maps in bpf_skel/ have the same types and sizes: the kernel compares them when programs load. */
static const struct part parts[NR_LEADER_MAPS] = {
	[LEADER_REGISTRY] = TABLE("registry", struct registry, 1),
	[LEADER_EVENTS] = {"events", NUMBERS(BPF_MAP_TYPE_PERF_EVENT_ARRAY, MAX_EVENTS, true,
					     BPF_F_PRESERVE_ELEMS)},
	[LEADER_READINGS] = CPU_TABLE("readings", struct cpu_readings),
	[LEADER_SHARED] = {"perf_shared_v0", BPF_MAP_TYPE_HASH, ATTR_KEY_SIZE,
			   sizeof(struct shared_event), MAX_EVENTS, false, 0},
	[LEADER_CPUS] = CPU_TABLE("cpus", struct cpu_state),
	[LEADER_SCOPE_SETS] = TABLE("scope_sets", struct reg_scope_set, MAX_SCOPE_SETS),
	[LEADER_SETS] = TABLE("sets", struct reg_set, MAX_SETS),
	[LEADER_SUMS] = MAPS("sums", MAX_CHUNKS),
	[LEADER_TASK_SLICES] = CPU_TABLE("task_slices", struct task_slice),
	[LEADER_TASKS] = HASH("tasks", __u64, __u64, MAX_TASKS, BPF_F_NO_PREALLOC),
	[LEADER_BUCKETS] = TABLE("buckets", struct task_bucket, 1 << BUCKET_BITS),
	[LEADER_WALK] = TABLE("walk", struct walk_request, 1),
	[LEADER_TRANSITIONS] = TABLE("transitions", struct transition_pair, MAX_SCOPE_SETS / 2),
	[LEADER_WAKEUPS] = RING("wakeups"),
	[LEADER_FOREIGN] = MAPS("foreign", MAX_EVENTS),
	[LEADER_DIFFS] = MAPS("diffs", MAX_EVENTS),
	[LEADER_CLOCK] = TABLE(".bss", struct cgroup_clock, 1),
	[LEADER_POOL] = TABLE("pool", struct pool_entry, MAX_POOL_ENTRIES),
	[LEADER_CGROUPS] = TABLE("cgroups", struct reg_cgroup, MAX_CGROUPS),
	/* Preallocated */
	[LEADER_CGROUP_IDS] = HASH("cgroup_ids", __u64, __u32, MAX_CGROUPS, 0),
	[LEADER_CREATED] = RING("created"),
	[LEADER_CGROUP_SLICES] = CPU_TABLE("cgroup_slices", struct cgroup_slice),
	[LEADER_EXIT_EVENT] = {"exit_event", NUMBERS(BPF_MAP_TYPE_PERF_EVENT_ARRAY, 1, false,
						     BPF_F_PRESERVE_ELEMS)},
	[LEADER_KEPT] = PROGS("kept"),
	[LEADER_KEPT_WALK] = PROGS("kept_walk"),
	[LEADER_KEPT_ABOVE] = PROGS("kept_above"),
};

static const enum map_kind kinds[NR_LEADER_MAPS] = {
	[LEADER_SCOPE_SETS] = MAPS_SCOPES,  [LEADER_SETS] = MAPS_SCOPES,
	[LEADER_TASK_SLICES] = MAPS_SCOPES, [LEADER_CGROUP_SLICES] = MAPS_CGROUPS,
	[LEADER_SUMS] = MAPS_SCOPES,	    [LEADER_TASKS] = MAPS_TASKS,
	[LEADER_BUCKETS] = MAPS_TASKS,	    [LEADER_WALK] = MAPS_TASKS,
	[LEADER_TRANSITIONS] = MAPS_TASKS,  [LEADER_CLOCK] = MAPS_CGROUPS,
	[LEADER_POOL] = MAPS_CGROUPS,	    [LEADER_CGROUPS] = MAPS_CGROUPS,
	[LEADER_CGROUP_IDS] = MAPS_CGROUPS, [LEADER_CREATED] = MAPS_CGROUPS,
};

enum map_kind leader_parts__kind(enum leader_map map)
{
	return kinds[map];
}

const char *leader_parts__name(enum leader_map map)
{
	return parts[map].name;
}

/* Return: whether tests lower the map's limit to reach it, so that the leader's maker decides. */
static bool is_limited_by_maker(enum leader_map map)
{
	return map == LEADER_TASKS || map == LEADER_CGROUP_IDS;
}

static uint64_t nr_entries(enum leader_map map, int nr_cpus)
{
	if (parts[map].type == BPF_MAP_TYPE_RINGBUF)
		return sysconf(_SC_PAGESIZE);
	return parts[map].is_per_cpu ? (uint64_t)parts[map].max_entries * nr_cpus :
				       parts[map].max_entries;
}

/*
 * Return: the number of places in a new table of tasks: half of the largest, unless the machine has many tasks.
 * Tests take another one.
 */
static uint64_t nr_task_places(void)
{
	char *line __cleanup(free_ptr) = read_file_line("/proc/loadavg");
	char *nr = line ? strchr(line, '/') : NULL;
	bool has_many = nr && strtoul(nr + 1, NULL, 10) > MAX_TASKS / 8;

	return crash_point__setting(CRASH_MAX_TASKS, has_many ? MAX_TASKS : MAX_TASKS / 2);
}

/* Return: the number of entries that a new map gets. */
static uint64_t new_size(enum leader_map map, int nr_cpus)
{
	uint64_t nr = nr_entries(map, nr_cpus);

	return map == LEADER_TASKS	? nr_task_places() :
	       map == LEADER_CGROUP_IDS ? crash_point__setting(CRASH_MAX_CGROUP_IDS, nr) :
					  nr;
}

/* An example of the maps in a map of maps: a descriptor, or -errno; 0: this is none. */
static int new_inner(enum leader_map map, int nr_cpus)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_PRESERVE_ELEMS);
	int fd;

	switch (map) {
	case LEADER_SUMS:
		return leader_parts__new_chunk(SUM_CELLS, nr_cpus);
	case LEADER_FOREIGN:
		fd = bpf_map_create(BPF_MAP_TYPE_PERF_EVENT_ARRAY, "foreign_events", sizeof(__u32),
				    sizeof(__u32), 1, &opts);
		return fd < 0 ? -errno : fd;
	case LEADER_DIFFS:
		return leader_parts__new_diff();
	default:
		return 0;
	}
}

size_t leader_parts__chunk_bytes(enum sum_map kind)
{
	return kind == SUM_CELLS ? sizeof(struct sum_block) : sizeof(struct carry_block);
}

int leader_parts__new_chunk(enum sum_map kind, int nr_cpus)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, kind == SUM_CELLS ? "sums" : "carries",
				sizeof(__u32), leader_parts__chunk_bytes(kind), nr_cpus, &opts);

	return fd < 0 ? -errno : fd;
}

int leader_parts__new_diff(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, LEADER_DIFF_MAP, sizeof(__u32),
				sizeof(struct bpf_perf_event_value), NR_DIFF_ENTRIES, NULL);

	return fd < 0 ? -errno : fd;
}

int leader_parts__new(enum leader_map map, int nr_cpus)
{
	const struct part *part = &parts[map];
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = part->flags);
	int inner = new_inner(map, nr_cpus), fd;

	if (inner < 0)
		return inner;
	opts.inner_map_fd = inner;
	fd = bpf_map_create(part->type, part->name[0] == '.' ? "cgroup_clock" : part->name,
			    part->key_size, part->value_size, new_size(map, nr_cpus), &opts);
	if (fd < 0)
		fd = -errno;
	if (inner)
		close(inner);
	return fd;
}

int leader_parts__check(enum leader_map map, int fd, int *nr_cpus)
{
	const struct part *part = &parts[map];
	struct bpf_map_info info;
	uint64_t nr;

	if (bpf_info__map(fd, &info))
		return -errno;
	if (map == LEADER_READINGS) {
		if (!info.max_entries || info.max_entries > MAX_CPUS)
			return -EPROTO;
		*nr_cpus = info.max_entries;
	}
	nr = nr_entries(map, *nr_cpus);
	if (info.type != part->type || info.key_size != part->key_size ||
	    info.value_size != part->value_size ||
	    (!is_limited_by_maker(map) && info.max_entries != nr) || info.map_flags != part->flags)
		return -EPROTO;
	return 0;
}

int leader_parts__check_diff(int fd)
{
	struct bpf_map_info info;

	if (bpf_info__map(fd, &info))
		return -errno;
	return info.type == BPF_MAP_TYPE_PERCPU_ARRAY && info.key_size == sizeof(__u32) &&
			       info.value_size == sizeof(struct bpf_perf_event_value) &&
			       info.max_entries == NR_DIFF_ENTRIES ?
		       0 :
		       -EPROTO;
}

int leader_parts__check_chunk(int fd, enum sum_map kind, int nr_cpus)
{
	struct bpf_map_info info;

	if (bpf_info__map(fd, &info))
		return -errno;
	return info.type == BPF_MAP_TYPE_ARRAY && info.key_size == sizeof(__u32) &&
			       info.value_size == leader_parts__chunk_bytes(kind) &&
			       info.max_entries == (__u32)nr_cpus &&
			       info.map_flags == BPF_F_MMAPABLE ?
		       0 :
		       -EPROTO;
}

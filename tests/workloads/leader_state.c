// SPDX-License-Identifier: GPL-2.0
/*
 * leader_state PATH: what the leader of the attr map at PATH has in its tables, a line "NAME
 * NUMBER" each: runs, scopes, classes, members (of all classes), sets (that are used), events,
 * perf_events, entries (in the tables of tasks), generation (1: odd), fold (1: half done), failed
 * (readings at switches), lost (switches), inserts (that failed). Exit status 3: no leader.
 */
#include "workload.h"
#include "../../bpf_skel/leader_registry.h"
#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static long bpf(int cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

static int map_info(int fd, struct bpf_map_info *info)
{
	union bpf_attr attr = {};

	memset(info, 0, sizeof(*info));
	attr.info.bpf_fd = fd;
	attr.info.info_len = sizeof(*info);
	attr.info.info = (unsigned long)info;
	return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

static int fd_by_id(__u32 id)
{
	union bpf_attr attr = { .map_id = id };

	return bpf(BPF_MAP_GET_FD_BY_ID, &attr);
}

static void *map_memory(int fd, size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *mem = mmap(NULL, (size + page - 1) / page * page, PROT_READ, MAP_SHARED, fd, 0);

	if (mem == MAP_FAILED)
		die("mmap");
	return mem;
}

static struct registry *find(const char *path)
{
	union bpf_attr attr = { .pathname = (unsigned long)path };
	struct bpf_map_info info;
	int pinned = bpf(BPF_OBJ_GET, &attr);
	__u32 attr_map, id = 0;

	if (pinned < 0 || map_info(pinned, &info))
		die("%s", path);
	attr_map = info.id;
	for (;;) {
		struct registry *reg;
		int fd;

		attr = (union bpf_attr){ .start_id = id };
		if (bpf(BPF_MAP_GET_NEXT_ID, &attr))
			exit(3);
		id = attr.next_id;
		fd = fd_by_id(id);
		if (fd < 0)
			continue;
		if (!map_info(fd, &info) && !strcmp(info.name, "registry") &&
		    info.value_size == sizeof(*reg)) {
			reg = map_memory(fd, sizeof(*reg));
			if (reg->layout == LEADER_LAYOUT && reg->attr_map_id == attr_map)
				return reg;
			munmap(reg, sizeof(*reg));
		}
		close(fd);
	}
}

static void *table(const struct registry *reg, enum leader_map map, size_t size)
{
	int fd = fd_by_id(reg->map_ids[map]);

	if (fd < 0)
		die("a map of the leader is gone");
	return map_memory(fd, size);
}

static void print_classes(const struct registry *reg)
{
	const struct reg_class *class = table(reg, LEADER_CLASSES, MAX_CLASSES * sizeof(*class));
	unsigned long scopes = 0, classes = 0, sets = 0;
	long long members = 0;
	char used[MAX_SETS] = "";
	int i;

	for (i = 1; i < MAX_SCOPES; i++) {
		if (!reg->scope[i].run)
			continue;
		scopes++;
		used[reg->scope[i].set % MAX_SETS] = 1;
	}
	for (i = 1; i < MAX_CLASSES; i++) {
		if (class[i].state == REG_FREE)
			continue;
		classes++;
		members += class[i].members;
		used[class[i].set % MAX_SETS] = 1;
	}
	for (i = 1; i < MAX_SETS; i++)
		sets += used[i];
	printf("scopes %lu\nclasses %lu\nmembers %lld\nsets %lu\n", scopes, classes, members, sets);
}

static void print_entries(const struct registry *reg)
{
	const struct task_bucket *bucket =
		table(reg, LEADER_BUCKETS, sizeof(*bucket) << BUCKET_BITS);
	unsigned long nr = 0;
	int i;

	for (i = 0; i < 1 << BUCKET_BITS; i++)
		nr += bucket[i].nr;
	printf("entries %lu\n", nr);
}

static void print_cgroups(const struct registry *reg)
{
	const struct reg_cgroup *cgroup =
		table(reg, LEADER_CGROUPS, MAX_CGROUPS * sizeof(*cgroup));
	unsigned long nr = 0;
	int i;

	for (i = 0; i < MAX_CGROUPS; i++)
		nr += cgroup[i].id != 0;
	printf("cgroups %lu\n", nr);
}

static void print_failures(const struct registry *reg)
{
	const struct cpu_state *cpu = table(reg, LEADER_CPUS, reg->nr_cpus * sizeof(*cpu));
	const struct leader_counts *counts = table(reg, LEADER_COUNTS, sizeof(*counts));
	unsigned long long failed = 0, lost = 0;
	__u32 i;

	for (i = 0; i < reg->nr_cpus; i++) {
		failed += cpu[i].failed_reads;
		lost += cpu[i].lost;
	}
	printf("failed %llu\nlost %llu\ninserts %llu\n", failed, lost, counts->failed_inserts);
}

int main(int argc, char **argv)
{
	unsigned long runs = 0, events = 0, perf_events = 0;
	const struct registry *reg;
	int i;

	usage_unless(argc == 2, "PATH");
	reg = find(argv[1]);
	for (i = 0; i < MAX_RUNS; i++)
		runs += reg->run[i].token != 0;
	for (i = 0; i < MAX_EVENTS; i++) {
		events += reg->event[i].state != REG_FREE;
		perf_events += reg->event[i].state == REG_READY ? reg->event[i].nr_open : 0;
	}
	printf("runs %lu\nevents %lu\nperf_events %lu\n", runs, events, perf_events);
	print_classes(reg);
	print_entries(reg);
	print_cgroups(reg);
	printf("generation %llu\nfold %d\n", reg->class_gen & 1, reg->fold != 0);
	print_failures(reg);
	return 0;
}

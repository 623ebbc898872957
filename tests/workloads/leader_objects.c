// SPDX-License-Identifier: GPL-2.0
/*
 * leader_objects: print all programs, maps and links of any leader and session on this machine:
 * "prog ID NAME", "map ID NAME", "link ID TRACEPOINT". Needs root.
 *
 * leader_objects ATTR_MAP: those of the leader of the first entry of this pinned map, whatever their
 * names: its link, the maps of the link's program, and all programs that use one of these maps.
 */
#include "workload.h"
#include <linux/bpf.h>
#include <sys/syscall.h>

#define MAX_MAPS 512 /* a leader of 250 events has 263 */

static const char *const progs[] = {
	"on_switch",	  "on_sync",	  "on_sample",	    "on_sample_gaps",
	"on_soft_sample", "on_soft_gaps", "on_sample_sync", NULL};
static const char *const maps[] = {"registry",	   "readings",	  "perf_shared_v0", "perf_run",
				   "sample_b.bss", "sample_cpus", "perf_samples",   NULL};
static const char *const links[] = {"sched_process_hang", NULL};

static long bpf(int cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

static void print_if(const char *kind, __u32 id, const char *name, const char *const *names)
{
	for (; *names; names++) {
		if (!strcmp(name, *names))
			printf("%s %u %s\n", kind, id, name);
	}
}

/* Describe an object. Return: -1 if it is gone by now. */
static int describe(int by_id, __u32 id, void *info, size_t size)
{
	union bpf_attr attr = {.start_id = id};
	int fd = bpf(by_id, &attr), ret;

	if (fd < 0)
		return -1;
	attr = (union bpf_attr){
		.info = {.bpf_fd = fd, .info_len = size, .info = (unsigned long)info},
	};
	ret = bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
	close(fd);
	return ret;
}

static __u32 next_id(int cmd, __u32 id)
{
	union bpf_attr attr = {.start_id = id};

	if (!bpf(cmd, &attr))
		return attr.next_id;
	if (errno != ENOENT)
		die("cannot list BPF objects");
	return 0;
}

static void print_all(void)
{
	__u32 id;

	for (id = 0; (id = next_id(BPF_PROG_GET_NEXT_ID, id));) {
		struct bpf_prog_info info = {};

		if (!describe(BPF_PROG_GET_FD_BY_ID, id, &info, sizeof(info)))
			print_if("prog", id, info.name, progs);
	}
	for (id = 0; (id = next_id(BPF_MAP_GET_NEXT_ID, id));) {
		struct bpf_map_info info = {};

		if (!describe(BPF_MAP_GET_FD_BY_ID, id, &info, sizeof(info)))
			print_if("map", id, info.name, maps);
	}
	for (id = 0; (id = next_id(BPF_LINK_GET_NEXT_ID, id));) {
		char name[64] = "";
		struct bpf_link_info info = {
			.raw_tracepoint = {.tp_name = (unsigned long)name,
					   .tp_name_len = sizeof(name)},
		};

		if (!describe(BPF_LINK_GET_FD_BY_ID, id, &info, sizeof(info)) &&
		    info.type == BPF_LINK_TYPE_RAW_TRACEPOINT)
			print_if("link", id, name, links);
	}
}

/* Return: the link of the first entry. Keys and values have a layout that all implementations share. */
static __u32 first_link(const char *path)
{
	union bpf_attr attr = {.pathname = (unsigned long)path};
	int fd = bpf(BPF_OBJ_GET, &attr);
	char key[256];
	__u32 value[2];

	if (fd < 0)
		die("%s", path);
	attr = (union bpf_attr){.map_fd = fd, .next_key = (unsigned long)key};
	if (bpf(BPF_MAP_GET_NEXT_KEY, &attr))
		exit(1);
	attr = (union bpf_attr){
		.map_fd = fd, .key = (unsigned long)key, .value = (unsigned long)value};
	if (bpf(BPF_MAP_LOOKUP_ELEM, &attr))
		exit(1);
	close(fd);
	return value[0];
}

static int is_among(__u32 id, const __u32 *ids, __u32 nr)
{
	while (nr--) {
		if (ids[nr] == id)
			return 1;
	}
	return 0;
}

/* Set the maps of a program. Return: -1 if it is gone by now. */
static int maps_of(__u32 prog, struct bpf_prog_info *info, __u32 ids[MAX_MAPS])
{
	*info = (struct bpf_prog_info){.nr_map_ids = MAX_MAPS, .map_ids = (unsigned long)ids};
	if (describe(BPF_PROG_GET_FD_BY_ID, prog, info, sizeof(*info)))
		return -1;
	if (info->nr_map_ids > MAX_MAPS)
		die("program %u has %u maps", prog, info->nr_map_ids);
	return 0;
}

static void print_progs_with(const __u32 *maps, __u32 nr_maps)
{
	struct bpf_prog_info info;
	__u32 ids[MAX_MAPS], id, i;

	for (id = 0; (id = next_id(BPF_PROG_GET_NEXT_ID, id));) {
		if (maps_of(id, &info, ids))
			continue;
		for (i = 0; i < info.nr_map_ids && !is_among(ids[i], maps, nr_maps); i++)
			;
		if (i < info.nr_map_ids)
			printf("prog %u %s\n", id, info.name);
	}
}

static void print_leader(const char *path)
{
	struct bpf_link_info link = {};
	struct bpf_prog_info prog;
	__u32 id = first_link(path), maps[MAX_MAPS], i;

	if (describe(BPF_LINK_GET_FD_BY_ID, id, &link, sizeof(link)) ||
	    maps_of(link.prog_id, &prog, maps))
		exit(1);
	printf("link %u\n", id);
	for (i = 0; i < prog.nr_map_ids; i++) {
		struct bpf_map_info map = {};

		if (!describe(BPF_MAP_GET_FD_BY_ID, maps[i], &map, sizeof(map)))
			printf("map %u %s\n", maps[i], map.name);
	}
	print_progs_with(maps, prog.nr_map_ids);
}

int main(int argc, char **argv)
{
	usage_unless(argc <= 2, "[ATTR_MAP]");
	if (argc == 2)
		print_leader(argv[1]);
	else
		print_all();
	return 0;
}

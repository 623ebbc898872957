// SPDX-License-Identifier: GPL-2.0
/*
 * leader_objects: print all programs, maps and links of any leader and session on this machine:
 * "prog ID NAME", "map ID NAME", "link ID TRACEPOINT". Needs root.
 */
#include "workload.h"
#include <linux/bpf.h>
#include <sys/syscall.h>

static const char *const progs[] = {"on_switch", "on_sync", "on_sample", "on_sample_sync", NULL};
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

int main(void)
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
	return 0;
}

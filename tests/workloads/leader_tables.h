/* SPDX-License-Identifier: GPL-2.0 */
/* Access to a leader's tables for workloads, independent of the code in util/ that writes them. */
#ifndef LEADER_TABLES_H
#define LEADER_TABLES_H

#include "workload.h"
#include "../../bpf_skel/leader_registry.h"
#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static inline long bpf(int cmd, union bpf_attr *attr)
{
	return syscall(__NR_bpf, cmd, attr, sizeof(*attr));
}

static inline int map_info(int fd, struct bpf_map_info *info)
{
	union bpf_attr attr = {};

	memset(info, 0, sizeof(*info));
	attr.info.bpf_fd = fd;
	attr.info.info_len = sizeof(*info);
	attr.info.info = (unsigned long)info;
	return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

static inline int fd_by_id(__u32 id)
{
	union bpf_attr attr = {.map_id = id};

	return bpf(BPF_MAP_GET_FD_BY_ID, &attr);
}

static inline void *map_memory(int fd, size_t size, int prot)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *mem = mmap(NULL, (size + page - 1) / page * page, prot, MAP_SHARED, fd, 0);

	if (mem == MAP_FAILED)
		die("mmap");
	return mem;
}

/* Return: the registry of the leader of the attr map at a path. Exit with status 3 if there is none. */
static inline struct registry *map_leader_of(const char *path, int prot)
{
	union bpf_attr attr = {.pathname = (unsigned long)path};
	struct bpf_map_info info;
	int pinned = bpf(BPF_OBJ_GET, &attr);
	__u32 attr_map, id = 0;

	if (pinned < 0 || map_info(pinned, &info))
		die("%s", path);
	attr_map = info.id;
	for (;;) {
		struct registry *reg;
		int fd;

		attr = (union bpf_attr){.start_id = id};
		if (bpf(BPF_MAP_GET_NEXT_ID, &attr))
			exit(3);
		id = attr.next_id;
		fd = fd_by_id(id);
		if (fd < 0)
			continue;
		if (!map_info(fd, &info) && !strcmp(info.name, "registry") &&
		    info.value_size == sizeof(*reg)) {
			reg = map_memory(fd, sizeof(*reg), prot);
			if (reg->layout == LEADER_LAYOUT && reg->attr_map_id == attr_map)
				return reg;
			munmap(reg, sizeof(*reg));
		}
		close(fd);
	}
}

static inline const struct registry *find_leader(const char *path)
{
	return map_leader_of(path, PROT_READ);
}

/* A table that no session has needed so far is empty. */
static inline void *table(const struct registry *reg, enum leader_map map, size_t size, int prot)
{
	int fd;
	void *zeros;

	if (!reg->map_ids[map]) {
		zeros = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (zeros == MAP_FAILED)
			die("mmap");
		return zeros;
	}
	fd = fd_by_id(reg->map_ids[map]);

	if (fd < 0)
		die("a map of the leader is gone");
	return map_memory(fd, size, prot);
}

#endif

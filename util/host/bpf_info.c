// SPDX-License-Identifier: GPL-2.0
#include "util/host/bpf_info.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int get(int fd, void *info, __u32 len)
{
	memset(info, 0, len);
	return bpf_obj_get_info_by_fd(fd, info, &len) ? -errno : 0;
}

int bpf_info__link(int fd, struct bpf_link_info *info)
{
	return get(fd, info, sizeof(*info));
}

int bpf_info__map(int fd, struct bpf_map_info *info)
{
	return get(fd, info, sizeof(*info));
}

int bpf_info__prog(int fd, struct bpf_prog_info *info)
{
	return get(fd, info, sizeof(*info));
}

int bpf_info__link_id(int fd, __u32 *id)
{
	struct bpf_link_info info;
	int err = bpf_info__link(fd, &info);

	if (!err)
		*id = info.id;
	return err;
}

int bpf_info__map_id(int fd, __u32 *id)
{
	struct bpf_map_info info;
	int err = bpf_info__map(fd, &info);

	if (!err)
		*id = info.id;
	return err;
}

int bpf_info__prog_id(int fd, __u32 *id)
{
	struct bpf_prog_info info;
	int err = bpf_info__prog(fd, &info);

	if (!err)
		*id = info.id;
	return err;
}

static bool is_next(int err, __u32 id, __u32 next)
{
	return err ? err != ENOENT : next == id;
}

bool bpf_info__is_link_alive(__u32 id)
{
	__u32 next = 0;
	int err;

	if (!id)
		return false;
	err = bpf_link_get_next_id(id - 1, &next) ? errno : 0;
	return is_next(err, id, next);
}

bool bpf_info__is_map_alive(__u32 id)
{
	__u32 next = 0;
	int err = bpf_map_get_next_id(id - 1, &next) ? errno : 0;

	return is_next(err, id, next);
}

int bpf_info__new_map(const char *name, int inner_fd)
{
	union bpf_attr attr = {
		.map_type = inner_fd < 0 ? BPF_MAP_TYPE_ARRAY : BPF_MAP_TYPE_ARRAY_OF_MAPS,
		.key_size = sizeof(__u32),
		.value_size = sizeof(__u32),
		.max_entries = 1,
		.inner_map_fd = inner_fd < 0 ? 0 : inner_fd,
	};
	int fd;

	strncpy(attr.map_name, name, sizeof(attr.map_name) - 1);
	fd = syscall(__NR_bpf, BPF_MAP_CREATE, &attr, sizeof(attr));
	return fd < 0 ? -errno : fd;
}

void *bpf_info__map_memory(int fd, size_t size, int prot)
{
	void *mem = mmap(NULL, size, prot, MAP_SHARED, fd, 0);

	if (mem == MAP_FAILED)
		return NULL;
	/* A fork would copy all its page table entries, for a command that execs. */
	(void)madvise(mem, size, MADV_DONTFORK);
	return mem;
}

size_t bpf_info__page_up(size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

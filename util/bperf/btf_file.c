// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/btf_file.h"

#include "util/lib/util.h"

#include <bpf/btf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

int btf_file__write(const struct btf *btf, const char *name)
{
	__u32 size = 0;
	const void *data = btf__raw_data(btf, &size);
	int fd = data ? memfd_create(name, MFD_CLOEXEC) : -1, err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, data, size) != (ssize_t)size)
		err = -EIO;
	if (err)
		close_fd(&fd);
	return err ? err : fd;
}

// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/btf_file.h"

#include "util/lib/util.h"

#include <bpf/btf.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

int btf_file__write(const struct btf *btf, const char *name)
{
	__u32 size = 0;
	const void *data = btf__raw_data(btf, &size);
	struct rlimit limit;
	int fd, err = 0;

	if (!data)
		return -ENOMEM;
	/* The kernel would send SIGXFSZ. */
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < size)
		return -EFBIG;
	fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, data, size) != (ssize_t)size)
		err = -EIO;
	if (err)
		close_fd(&fd);
	return err ? err : fd;
}

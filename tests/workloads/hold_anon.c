// SPDX-License-Identifier: GPL-2.0
/*
 * hold_anon: lock the kernel's only anonymous inode, as any process can, until a signal kills it. The
 * descriptors of all BPF maps share that inode.
 */
#include "workload.h"

#include <sys/epoll.h>
#include <sys/file.h>

int main(int argc, char **argv)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	usage_unless(argc == 1, "");
	(void)argv;
	if (fd < 0 || flock(fd, LOCK_EX))
		die("flock");
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}

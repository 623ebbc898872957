// SPDX-License-Identifier: GPL-2.0
/*
 * hold_anon [shared]: lock the kernel's only anonymous inode, as any process can, until a signal kills it. The
 * descriptors of all BPF maps share that inode. Any number of processes can hold it "shared" at a time.
 */
#include "workload.h"

#include <stdbool.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>

int main(int argc, char **argv)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);
	bool is_shared = argc == 2 && !strcmp(argv[1], "shared");

	usage_unless(argc == 1 || is_shared, "[shared]");
	if (fd < 0 || flock(fd, is_shared ? LOCK_SH : LOCK_EX))
		die("flock");
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}

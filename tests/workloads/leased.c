// SPDX-License-Identifier: GPL-2.0
/*
 * leased FILE: hold a lease on a file, so that its exec waits. Print "ready", then "wanted" when the exec
 * waits. SIGTERM gives the file free.
 */
#include "workload.h"

#include <fcntl.h>
#include <signal.h>

int main(int argc, char **argv)
{
	sigset_t set;
	int fd, sig;

	usage_unless(argc == 2, "FILE");
	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		die("sigprocmask");
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fcntl(fd, F_SETLEASE, F_WRLCK))
		die("lease");
	puts("ready");
	fflush(stdout);
	while (!sigwait(&set, &sig) && sig != SIGTERM) {
		puts("wanted");
		fflush(stdout);
	}
	return 0;
}

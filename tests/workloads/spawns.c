// SPDX-License-Identifier: GPL-2.0
/*
 * spawns N PROGRAM [ARGUMENT...]: start N children one after the other that execute PROGRAM, through
 * vfork() and posix_spawn() in turn. Wait for each; all must exit with 0.
 */
#include "workload.h"
#include <spawn.h>

extern char **environ;

int main(int argc, char **argv)
{
	unsigned long n;

	usage_unless(argc >= 3, "N PROGRAM [ARGUMENT...]");
	for (n = number(argc, argv, 1, 0); n; n--) {
		pid_t pid;

		if (n & 1) {
			pid = vfork();
			if (pid < 0)
				die("vfork");
			if (!pid) {
				execv(argv[2], argv + 2);
				_exit(127);
			}
		} else {
			errno = posix_spawn(&pid, argv[2], NULL, NULL, argv + 2, environ);
			if (errno)
				die("posix_spawn");
		}
		reap(pid);
	}
	return 0;
}

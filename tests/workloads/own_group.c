// SPDX-License-Identifier: GPL-2.0
/*
 * own_group FILE COMMAND...: run a command as a job of its own, as shells on a terminal do. The kernel
 * stops it at a SIGTSTP, because its parent is in the same terminal session and another process group.
 * Write the command's pid to FILE, and exit with its status.
 */
#include "workload.h"

int main(int argc, char **argv)
{
	int status;
	pid_t pid;
	FILE *file;

	usage_unless(argc > 2, "FILE COMMAND...");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		setpgid(0, 0);
		execvp(argv[2], argv + 2);
		die("%s", argv[2]);
	}
	setpgid(pid, pid);
	file = fopen(argv[1], "w");
	if (!file || fprintf(file, "%d\n", (int)pid) < 0 || fclose(file))
		die("%s", argv[1]);
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

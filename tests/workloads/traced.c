// SPDX-License-Identifier: GPL-2.0
/* traced COMMAND...: run a command, and trace it and its children, as a debugger does. */
#include "workload.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* Let a stopped task go on. */
static void resume(pid_t pid, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;

	ptrace(PTRACE_CONT, pid, 0, event ? 0 : sig);
}

int main(int argc, char **argv)
{
	int status;
	pid_t child, pid;

	usage_unless(argc > 1, "COMMAND...");
	child = fork();
	if (child < 0)
		die("fork");
	if (!child) {
		raise(SIGSTOP);
		execvp(argv[1], argv + 1);
		die(argv[1]);
	}
	waitpid(child, &status, WUNTRACED);
	if (ptrace(PTRACE_SEIZE, child, 0,
		   PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE))
		die("ptrace");
	kill(child, SIGCONT);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status))
			resume(pid, status);
		else if (pid == child)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	die("waitpid");
}

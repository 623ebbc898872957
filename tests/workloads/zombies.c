// SPDX-License-Identifier: GPL-2.0
/*
 * zombies N: print "ready" and sleep. At SIGUSR1, fork N children that end at once, and print "ended".
 * At the next SIGUSR1, wait for them, so that the kernel releases them, and print "released".
 */
#include "workload.h"
#include <signal.h>

static void have_children(unsigned long nr)
{
	while (nr--) {
		pid_t pid = fork();
		siginfo_t info;

		if (pid < 0)
			die("fork");
		if (!pid)
			_exit(0);
		if (waitid(P_PID, pid, &info, WEXITED | WNOWAIT))
			die("waitid");
	}
}

static void wait_for_signal(const sigset_t *set)
{
	int sig;

	errno = sigwait(set, &sig);
	if (errno)
		die("sigwait");
}

static void say(const char *what)
{
	puts(what);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned long nr, i;
	sigset_t set;

	usage_unless(argc == 2, "N");
	nr = number(argc, argv, 1, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		die("sigprocmask");
	say("ready");
	for (;;) {
		wait_for_signal(&set);
		have_children(nr);
		say("ended");
		wait_for_signal(&set);
		for (i = 0; i < nr; i++)
			reap(-1);
		say("released");
	}
}

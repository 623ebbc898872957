// SPDX-License-Identifier: GPL-2.0
/*
 * waiter [ITER]: prints "ready", sleeps until SIGTERM or SIGUSR1, spins ITER times, exits with 0.
 * SIGUSR1 may come again and again with ITER: the program spins and sleeps on; SIGTERM ends it
 * after spinning once more.
 */
#include "workload.h"
#include <signal.h>

int main(int argc, char **argv)
{
	unsigned long iter;
	sigset_t set;
	int sig;

	usage_unless(argc <= 2, "[ITER]");
	iter = number(argc, argv, 1, 0);
	/* Blocked and waited for: none gets lost between looking and sleeping. */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		die("sigprocmask");
	puts("ready");
	fflush(stdout);
	do {
		errno = sigwait(&set, &sig);
		if (errno)
			die("sigwait");
		spin(iter);
	} while (sig == SIGUSR1 && iter);
	return 0;
}

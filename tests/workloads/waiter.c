// SPDX-License-Identifier: GPL-2.0
/*
 * waiter [ITER]: print "ready", sleep until SIGTERM or SIGUSR1, spin ITER times, exit with 0.
 * With ITER, the program sleeps again after each SIGUSR1. SIGTERM ends it after spinning once more.
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
	/* Block the signals and wait for them: none gets lost between a check and the sleep. */
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

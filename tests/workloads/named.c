// SPDX-License-Identifier: GPL-2.0
/* named NAME: give the thread that name, print "ready", sleep until SIGTERM. */
#include "workload.h"
#include <signal.h>
#include <sys/prctl.h>

int main(int argc, char **argv)
{
	sigset_t set;
	int sig;

	usage_unless(argc == 2, "NAME");
	if (prctl(PR_SET_NAME, argv[1]))
		die("prctl");
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		die("sigprocmask");
	puts("ready");
	fflush(stdout);
	errno = sigwait(&set, &sig);
	if (errno)
		die("sigwait");
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * job COMMAND...: become the command, as setsid env --default-signal=INT would, in one start of a program. Its process
 * group is its own, and it does not ignore SIGINT, as background jobs of scripts do.
 */
#include "workload.h"
#include <signal.h>

int main(int argc, char **argv)
{
	usage_unless(argc > 1, "COMMAND...");
	if (setsid() < 0)
		die("setsid");
	signal(SIGINT, SIG_DFL);
	execvp(argv[1], argv + 1);
	die("%s", argv[1]);
}

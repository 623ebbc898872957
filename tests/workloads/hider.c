// SPDX-License-Identifier: GPL-2.0
/*
 * hider US: take each CPU for a moment, US microseconds after the last time on average, until SIGTERM. It
 * stands for the tasks in which a host runs no BPF programs: scripts/hidden makes programs that do nothing in a
 * task of its name.
 */
#include "workload.h"
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <time.h>

static void take(int cpu, unsigned long us)
{
	const struct sched_param first = {.sched_priority = 1};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || sched_setaffinity(0, sizeof(set), &set) ||
	    sched_setscheduler(0, SCHED_FIFO, &first))
		die("CPU %d", cpu);
	srand(cpu);
	for (;;) {
		struct timespec moment = {.tv_nsec = (us / 2 + rand() % us) * 1000};

		nanosleep(&moment, NULL);
	}
}

int main(int argc, char **argv)
{
	unsigned long us;

	usage_unless(argc == 2, "US");
	us = number(argc, argv, 1, 0);
	/* nanosleep() takes less than a second. */
	usage_unless(us > 0 && us < 600000, "US: 1 to 599999");
	for (int cpu = 0; cpu < get_nprocs(); cpu++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			take(cpu, us);
	}
	reap(-1);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * leader_busy PATH: keep all CPUs busy for the leader of the attr map at PATH, as if a program of it
 * never ended there: switches are lost, and no sync succeeds. Begin while one of them runs in a cgroup
 * that is counted. Print "busy" then, and give the CPUs back on SIGTERM.
 */
#include "leader_tables.h"
#include <signal.h>

static void set_busy(struct cpu_state *cpu, __u32 nr, __u64 busy)
{
	for (__u32 i = 0; i < nr; i++)
		__atomic_store_n(&cpu[i].busy, busy, __ATOMIC_SEQ_CST);
}

/* Return: whether all are busy, with a counted cgroup on one of them. */
static int seize(struct cpu_state *cpu, __u32 nr)
{
	int all = 1, is_counted = 0;

	set_busy(cpu, nr, 1);
	/* A program that was running there ends within this time, and frees its CPU. */
	usleep(10000);
	for (__u32 i = 0; i < nr; i++) {
		all &= __atomic_load_n(&cpu[i].busy, __ATOMIC_SEQ_CST) == 1;
		is_counted |= cpu[i].scope_set[SCOPE_SET_CGROUP] != 0;
	}
	if (all && is_counted)
		return 1;
	set_busy(cpu, nr, 0);
	usleep(10000);
	return 0;
}

int main(int argc, char **argv)
{
	const struct registry *reg;
	struct cpu_state *cpu;
	sigset_t set;
	int sig;

	usage_unless(argc == 2, "PATH");
	reg = find_leader(argv[1]);
	cpu = table(reg, LEADER_CPUS, reg->nr_cpus * sizeof(*cpu), PROT_READ | PROT_WRITE);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		die("sigprocmask");
	while (!seize(cpu, reg->nr_cpus))
		;
	puts("busy");
	fflush(stdout);
	errno = sigwait(&set, &sig);
	if (errno)
		die("sigwait");
	set_busy(cpu, reg->nr_cpus, 0);
	return 0;
}

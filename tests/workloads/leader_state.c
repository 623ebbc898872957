// SPDX-License-Identifier: GPL-2.0
/*
 * leader_state PATH: what the leader of the attr map at PATH has in its tables, a line "NAME
 * NUMBER" each: runs, scopes, classes, members (of all classes), sets (that are used), events,
 * perf_events, entries (in the tables of tasks), ended
 * (of these in buckets, those of ended tasks), generation (1: odd), fold (1: half done), failed
 * (readings at switches), lost (switches), inserts (that failed). Exit status 3: no leader.
 */
#include "leader_tables.h"

static void print_classes(const struct registry *reg)
{
	const struct reg_class *class = table(reg, LEADER_CLASSES, MAX_CLASSES * sizeof(*class), PROT_READ);
	unsigned long scopes = 0, classes = 0, sets = 0;
	long long members = 0;
	char used[MAX_SETS] = "";
	int i;

	for (i = 1; i < MAX_SCOPES; i++) {
		if (!reg->scope[i].run)
			continue;
		scopes++;
		used[reg->scope[i].set % MAX_SETS] = 1;
	}
	for (i = 1; i < MAX_CLASSES; i++) {
		if (class[i].state == REG_FREE)
			continue;
		classes++;
		members += class[i].members;
		used[class[i].set % MAX_SETS] = 1;
	}
	for (i = 1; i < MAX_SETS; i++)
		sets += used[i];
	printf("scopes %lu\nclasses %lu\nmembers %lld\nsets %lu\n", scopes, classes, members, sets);
}

static void print_entries(const struct registry *reg)
{
	const struct task_bucket *bucket =
		table(reg, LEADER_BUCKETS, sizeof(*bucket) << BUCKET_BITS, PROT_READ);
	unsigned long nr = 0, ended = 0;
	int i;

	for (i = 0; i < 1 << BUCKET_BITS; i++) {
		nr += bucket[i].nr;
		ended += bucket[i].nr && bucket[i].entry == TASK_ENDED;
	}
	printf("entries %lu\nended %lu\n", nr, ended);
}

static void print_cgroups(const struct registry *reg)
{
	const struct reg_cgroup *cgroup =
		table(reg, LEADER_CGROUPS, MAX_CGROUPS * sizeof(*cgroup), PROT_READ);
	unsigned long nr = 0;
	int i;

	for (i = 0; i < MAX_CGROUPS; i++)
		nr += cgroup[i].id != 0;
	printf("cgroups %lu\n", nr);
}

static void print_failures(const struct registry *reg)
{
	const struct cpu_state *cpu = table(reg, LEADER_CPUS, reg->nr_cpus * sizeof(*cpu), PROT_READ);
	const struct leader_counts *counts = table(reg, LEADER_COUNTS, sizeof(*counts), PROT_READ);
	unsigned long long failed = 0, lost = 0;
	__u32 i;

	for (i = 0; i < reg->nr_cpus; i++) {
		failed += cpu[i].failed_reads;
		lost += cpu[i].lost;
	}
	printf("failed %llu\nlost %llu\ninserts %llu\n", failed, lost, counts->failed_inserts);
}

int main(int argc, char **argv)
{
	unsigned long runs = 0, events = 0, perf_events = 0;
	const struct registry *reg;
	int i;

	usage_unless(argc == 2, "PATH");
	reg = find_leader(argv[1]);
	for (i = 0; i < MAX_RUNS; i++)
		runs += reg->run[i].token != 0;
	for (i = 0; i < MAX_EVENTS; i++) {
		events += reg->event[i].state != REG_FREE;
		perf_events += reg->event[i].state == REG_READY ? reg->event[i].nr_open : 0;
	}
	printf("runs %lu\nevents %lu\nperf_events %lu\n", runs, events, perf_events);
	print_classes(reg);
	print_entries(reg);
	print_cgroups(reg);
	printf("generation %llu\nfold %d\n", reg->class_gen & 1, reg->fold != 0);
	print_failures(reg);
	return 0;
}

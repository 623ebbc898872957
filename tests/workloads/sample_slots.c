// SPDX-License-Identifier: GPL-2.0
/*
 * sample_slots PATH [CPU|needs|takers|busy]: print a line for each slot of sampling that is taken, of the leader of the attr map at PATH: the
 * number of the slot, its class, how many sessions use it, and the rate of its event on each CPU (0: none).
 * With a CPU, print the generation of its event on that CPU instead (0: none). With the word needs, print that of all
 * its takers: a sum of SAMPLE_NEEDS_*; with takers, how many these are. With busy, print nothing, and keep CPU 0 from
 * syncs for good.
 * Exit status 3: there is no leader.
 */
#include "leader_tables.h"
#include "../../bpf_skel/sample.h"

static void *sample_map(const struct registry *reg, enum sample_map map, size_t size)
{
	int fd = fd_by_id(reg->sample.map_ids[map]);

	if (fd < 0)
		die("nobody samples");
	return map_memory(fd, size, PROT_READ | PROT_WRITE);
}

int main(int argc, char **argv)
{
	const struct sample_plan *plan;
	const struct registry *reg;
	struct sample_cpu *cpus;
	__u32 nr_cpus;

	usage_unless(argc == 2 || argc == 3, "PATH [CPU|needs|takers|busy]");
	reg = find_leader(argv[1]);
	nr_cpus = reg->nr_cpus;
	plan = sample_map(reg, SAMPLE_PLAN, sizeof(*plan));
	cpus = sample_map(reg, SAMPLE_CPUS, nr_cpus * sizeof(*cpus));
	if (argc == 3 && !strcmp(argv[2], "busy")) {
		cpus[0].syncing = 1;
		return 0;
	}
	for (int slot = 0; slot < MAX_SAMPLE_SLOTS; slot++) {
		const struct sample_slot *of = &plan->slot[slot];

		if (!of->class)
			continue;
		if (argc == 3 && !strcmp(argv[2], "needs")) {
			printf("%u\n", of->needs);
			continue;
		}
		if (argc == 3 && !strcmp(argv[2], "takers")) {
			printf("%d\n", __builtin_popcountll(of->takers));
			continue;
		}
		if (argc == 3) {
			printf("%u\n", cpus[atoi(argv[2])].slot[slot].base.gen);
			continue;
		}
		printf("%d %u %d", slot, of->class, __builtin_popcountll(of->users));
		for (__u32 cpu = 0; cpu < nr_cpus; cpu++)
			printf(" %llu", cpus[cpu].slot[slot].base.rate);
		putchar('\n');
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * leader_state PATH: print the numbers in the tables of the leader of the attr map at PATH, a line
 * "NAME NUMBER" each: sessions, scopes, scope_sets, members (of all scope sets), sets (of events, used
 * ones), events, perf_events, cgroups (in the table), pending (new cgroups that a session must still
 * process), window (pool entries to have ready), entries (in the tables of tasks), ended (entries in
 * buckets of ended tasks), generation (1: odd), merge (1: half done), opening (token of the session that
 * opens events again; 0: none), failed (readings at switches), lost (switches), careful (CPUs whose switches
 * ask about each event), inserts (failed ones, of scopes there are). Exit status 3: there is no leader.
 */
#include "leader_tables.h"

static void print_scope_sets(const struct registry *reg)
{
	const struct reg_scope_set *scope_set =
		table(reg, LEADER_SCOPE_SETS, MAX_SCOPE_SETS * sizeof(*scope_set), PROT_READ);
	unsigned long scopes = 0, scope_sets = 0, sets = 0;
	long long members = 0;
	char used[MAX_SETS] = "";
	int i;

	for (i = 1; i < MAX_SCOPES; i++) {
		if (!reg->scope[i].session)
			continue;
		scopes++;
		used[reg->scope[i].set % MAX_SETS] = 1;
	}
	for (i = 1; i < MAX_SCOPE_SETS; i++) {
		if (scope_set[i].state == REG_FREE)
			continue;
		scope_sets++;
		members += (int)scope_set[i].members;
		used[scope_set[i].set % MAX_SETS] = 1;
	}
	for (i = 1; i < MAX_SETS; i++)
		sets += used[i];
	printf("scopes %lu\nscope_sets %lu\nmembers %lld\nsets %lu\n", scopes, scope_sets, members,
	       sets);
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
	const struct cgroup_clock *clock = table(reg, LEADER_CLOCK, sizeof(*clock), PROT_READ);
	unsigned long nr = 0;
	int i;

	for (i = 0; i < MAX_CGROUPS; i++)
		nr += cgroup[i].id != 0;
	printf("cgroups %lu\npending %llu\nwindow %llu\n", nr,
	       clock->nr_created - reg->nr_reclaimed, clock->window);
}

static void print_failures(const struct registry *reg)
{
	const struct cpu_state *cpu =
		table(reg, LEADER_CPUS, reg->nr_cpus * sizeof(*cpu), PROT_READ);
	const struct task_slice *task =
		table(reg, LEADER_TASK_SLICES, reg->nr_cpus * sizeof(*task), PROT_READ);
	const struct cgroup_slice *cgroup =
		table(reg, LEADER_CGROUP_SLICES, reg->nr_cpus * sizeof(*cgroup), PROT_READ);
	unsigned long long failed = 0, lost = 0, careful = 0, inserts = 0;
	__u32 i, e;

	for (i = 0; i < reg->nr_cpus; i++) {
		for (e = 0; e < MAX_EVENTS; e++) {
			if (!(cpu[i].base[e].flags & EVENT_ABSENT))
				failed += task[i].snapshot[e].failed + cgroup[i].snapshot[e].failed;
		}
		lost += cpu[i].lost;
		careful += !!(cpu[i].mode & MODE_CAREFUL);
	}
	for (i = 1; i < MAX_SCOPES; i++) {
		if (reg->scope[i].session)
			inserts += reg->scope[i].missed;
	}
	printf("failed %llu\nlost %llu\ncareful %llu\ninserts %llu\n", failed, lost, careful,
	       inserts);
}

int main(int argc, char **argv)
{
	unsigned long runs = 0, events = 0, perf_events = 0;
	const struct registry *reg;
	int i;

	usage_unless(argc == 2, "PATH");
	reg = find_leader(argv[1]);
	for (i = 0; i < MAX_SESSIONS; i++)
		runs += reg->session[i].token != 0;
	for (i = 0; i < MAX_EVENTS; i++) {
		events += reg->event[i].state != REG_FREE;
		perf_events += reg->event[i].state == REG_READY ? reg->event[i].nr_open : 0;
	}
	printf("sessions %lu\nevents %lu\nperf_events %lu\n", runs, events, perf_events);
	print_scope_sets(reg);
	print_entries(reg);
	print_cgroups(reg);
	printf("generation %llu\nmerge %d\nopening %u\n", reg->scope_set_gen & 1, reg->merge != 0,
	       OPENING_TOKEN(reg->opening));
	print_failures(reg);
	return 0;
}

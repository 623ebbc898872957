// SPDX-License-Identifier: GPL-2.0
/*
 * forge_leader MAP_ID: forge a leader for the attr map of that id, with only CAP_BPF and CAP_PERFMON.
 * It has a raw tracepoint's program on_switch with a map `registry`, and everything that an honest
 * leader's header names. Its numbers lead a session that believes them astray. Its table for other
 * layouts, perf_shared_v0, has oversized values. Print "ready" and the link's id, and wait for a signal.
 */
#include "leader_tables.h"
#include <bpf/bpf.h>
#include <linux/perf_event.h>

#define NR_CPUS	    1024
#define LARGE_VALUE 65536

static __u32 id_of(int fd)
{
	struct bpf_map_info info;

	if (map_info(fd, &info))
		die("the id of a map");
	return info.id;
}

static int make_table(const char *name, size_t value_size, int nr)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, name, sizeof(__u32), value_size, nr, &opts);

	if (fd < 0)
		die("a map of %zu bytes", value_size);
	return fd;
}

/* Make scope sets whose bases form a ring: a walk along them never reaches scope set 0. */
static int make_scope_sets(void)
{
	int fd = make_table("scope_sets", sizeof(struct reg_scope_set), MAX_SCOPE_SETS);
	struct reg_scope_set *scope_set =
		map_memory(fd, MAX_SCOPE_SETS * sizeof(*scope_set), PROT_READ | PROT_WRITE);

	for (__u32 i = 1; i < MAX_SCOPE_SETS; i++) {
		scope_set[i].state = REG_READY;
		scope_set[i].parent = i % (MAX_SCOPE_SETS - 1) + 1;
		scope_set[i].scope = ~0U;
		scope_set[i].set = ~0U;
		scope_set[i].cell = ~0U;
		scope_set[i].carry = 0xff;
	}
	return fd;
}

static void name_maps(struct registry *reg)
{
	static const struct {
		enum leader_map map;
		size_t size;
		int nr;
	} tables[] = {
		{LEADER_READINGS, sizeof(struct cpu_readings), NR_CPUS},
		{LEADER_CPUS, sizeof(struct cpu_state), NR_CPUS},
		{LEADER_SETS, sizeof(struct reg_set), MAX_SETS},
		{LEADER_BUCKETS, sizeof(struct task_bucket), 1 << BUCKET_BITS},
		{LEADER_WALK, sizeof(struct walk_request), 1},
		{LEADER_CLOCK, sizeof(struct cgroup_clock), 1},
		{LEADER_POOL, sizeof(struct pool_entry), MAX_POOL_ENTRIES},
		{LEADER_CGROUPS, sizeof(struct reg_cgroup), MAX_CGROUPS},
	};
	__u32 any = id_of(make_table("any", 8, 1));

	for (int i = 0; i < NR_LEADER_MAPS; i++) {
		if (i != LEADER_REGISTRY)
			reg->map_ids[i] = any;
	}
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		reg->map_ids[tables[i].map] =
			id_of(make_table("table", tables[i].size, tables[i].nr));
	reg->map_ids[LEADER_SCOPE_SETS] = id_of(make_scope_sets());
}

/* Enter groups and scopes with numbers that no honest leader has, and a session of this process. */
static void lie(struct registry *reg)
{
	reg->session[0].token = reg->map_ids[LEADER_REGISTRY];
	memset(reg->session[0].comm, 'x', sizeof(reg->session[0].comm));
	for (int i = 0; i < MAX_EVENTS; i++) {
		reg->event[i].state = REG_READY;
		reg->event[i].leader = i;
		reg->event[i].nr_members = 1 << 20;
		reg->event[i].users[0] = 1;
	}
	reg->nr_scope_sets = ~0U;
	reg->nr_scopes = ~0U;
	reg->merge = MERGE(MAX_SCOPE_SETS - 1, 1, 0);
	reg->scope_set_gen = 1;
}

/* Make the table that says where context-switches are, with oversized values. */
static int make_shared(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, "perf_shared_v0", ATTR_KEY_SIZE, LARGE_VALUE, 1,
				NULL);
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_KEY_SIZE,
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES,
	};
	static __u8 value[LARGE_VALUE];
	struct attr_key key = {};

	memcpy(key.bytes, &attr, sizeof(attr) < sizeof(key) ? sizeof(attr) : sizeof(key));
	memset(value, 0xff, sizeof(value));
	if (fd < 0 || bpf_map_update_elem(fd, &key, value, BPF_ANY))
		die("perf_shared_v0");
	return fd;
}

/* Attach a program that only names its maps to a tracepoint that practically never fires. */
static __u32 attach(int registry, int shared, __u32 *link_id)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_LD | BPF_DW | BPF_IMM,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_PSEUDO_MAP_FD,
		 .imm = registry},
		{},
		{.code = BPF_LD | BPF_DW | BPF_IMM,
		 .dst_reg = BPF_REG_1,
		 .src_reg = BPF_PSEUDO_MAP_FD,
		 .imm = shared},
		{},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct bpf_link_info link_info = {};
	struct bpf_prog_info prog_info = {};
	__u32 link_len = sizeof(link_info), prog_len = sizeof(prog_info);
	int prog = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "on_switch", "GPL", insns,
				 sizeof(insns) / sizeof(*insns), NULL);
	int link = prog < 0 ? -1 : bpf_raw_tracepoint_open("sched_process_hang", prog);

	if (prog >= 0 && link < 0)
		link = bpf_raw_tracepoint_open("cpuhp_enter", prog);
	if (link < 0 || bpf_obj_get_info_by_fd(link, &link_info, &link_len) ||
	    bpf_obj_get_info_by_fd(prog, &prog_info, &prog_len))
		die("the program on_switch");
	*link_id = link_info.id;
	return prog_info.id;
}

int main(int argc, char **argv)
{
	int registry = make_table("registry", sizeof(struct registry), 1);
	struct registry *reg = map_memory(registry, sizeof(*reg), PROT_READ | PROT_WRITE);
	__u32 prog_id;

	usage_unless(argc == 2, "MAP_ID");
	reg->map_ids[LEADER_REGISTRY] = id_of(registry);
	name_maps(reg);
	prog_id = attach(registry, make_shared(), &reg->link_id);
	for (int i = 0; i < NR_LEADER_PROGS; i++)
		reg->prog_ids[i] = prog_id;
	lie(reg);
	reg->attr_map_id = strtoul(argv[1], NULL, 10);
	reg->nr_cpus = NR_CPUS;
	reg->size = sizeof(*reg);
	reg->layout = LEADER_LAYOUT;
	printf("ready %u\n", reg->link_id);
	fflush(stdout);
	pause();
	return 0;
}

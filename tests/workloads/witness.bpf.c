// SPDX-License-Identifier: GPL-2.0
/*
 * The BPF programs of the witness (see witness.c). A machine may run no BPF programs at the switches of
 * some tasks. Such a hidden switch shows at the next visible one: the kernel has counted more than one
 * switch since the visible switch before. The time and the events between the two belong to unknown tasks.
 * The same machine may hide the release of a task, which happens in any other task. Then the release is
 * missing. If it hides the birth of a task, nobody follows the task.
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "witness.h"

char LICENSE[] SEC("license") = "GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	__u64 id;
};

struct cgroup {
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct task_struct {
	__s32 pid;
	int tgid;
	char comm[16];
	__u64 start_time;
	struct css_set *cgroups;
};

#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct witness_cpu);
	__uint(max_entries, 1);
} cpus SEC(".maps");

/* The perf event of each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} events SEC(".maps");

/* The context switches of each CPU: the kernel counts one when the programs at it are over. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
} switches SEC(".maps");

struct shares {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct witness_who);
	__type(value, struct witness_share);
	__uint(max_entries, WITNESS_TASKS);
};

/* The most that each prev did since a hidden switch gave it the CPU. Readers at switches miss that. */
struct shares lost SEC(".maps");

/* The most that came after a hidden switch took the CPU from each next. Readers charge that to it. */
struct shares gained SEC(".maps");

/* The work of each prev whose birth was hidden, or that of the task that it was born of. Nobody could follow it. */
struct shares unborn SEC(".maps");

/* When each task was born, by thread id. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, WITNESS_LIVING);
} born SEC(".maps");

/* The time of the first visible switch. Births are visible then. */
__u64 since;

/* Threads that have ended and have not been released since, by thread id. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, struct witness_who);
	__uint(max_entries, WITNESS_DEAD);
} dead SEC(".maps");

static __always_inline void identify(struct task_struct *task, struct witness_who *who)
{
	__builtin_memset(who, 0, sizeof(*who));
	who->cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
	who->tgid = BPF_CORE_READ(task, tgid);
	BPF_CORE_READ_STR_INTO(&who->comm, task, comm);
}

static __always_inline void add(void *map, struct witness_who *who, __u64 ns, __u64 nr_events,
				struct witness_cpu *cpu)
{
	struct witness_share *share = bpf_map_lookup_elem(map, who);

	if (!share) {
		struct witness_share none = {};

		/* BPF_NOEXIST, because another CPU may have inserted the entry meanwhile. */
		bpf_map_update_elem(map, who, &none, BPF_NOEXIST);
		share = bpf_map_lookup_elem(map, who);
	}
	if (!share) {
		cpu->dropped++;
		return;
	}
	__sync_fetch_and_add(&share->switches, 1);
	__sync_fetch_and_add(&share->ns, ns);
	__sync_fetch_and_add(&share->events, nr_events);
}

static __always_inline int is_unborn(struct task_struct *task)
{
	__u64 start = BPF_CORE_READ(task, start_time), *begin;
	__u32 pid = BPF_CORE_READ(task, pid);

	if (!since || start < since || !pid)
		return 0;
	begin = bpf_map_lookup_elem(&born, &pid);
	return !begin || *begin != start;
}

/* The first of the programs, so that it is attached before switches are visible. */
SEC("raw_tp/sched_wakeup_new")
int on_birth(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u64 start = BPF_CORE_READ(task, start_time);
	__u32 pid = BPF_CORE_READ(task, pid), zero = 0;
	struct witness_cpu *cpu = bpf_map_lookup_elem(&cpus, &zero);

	if (!is_unborn((void *)bpf_get_current_task()) &&
	    bpf_map_update_elem(&born, &pid, &start, BPF_ANY) && cpu)
		cpu->dropped++;
	return 0;
}

SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *prev = (void *)ctx->args[1], *next = (void *)ctx->args[2];
	struct bpf_perf_event_value value = {}, switched = {};
	__u64 now = bpf_ktime_get_ns();
	struct witness_cpu *cpu;
	struct witness_who who;
	__u32 zero = 0;

	cpu = bpf_map_lookup_elem(&cpus, &zero);
	if (!cpu)
		return 0;
	if (bpf_perf_event_read_value(&events, BPF_F_CURRENT_CPU, &value, sizeof(value)))
		cpu->failed++;
	if (bpf_perf_event_read_value(&switches, BPF_F_CURRENT_CPU, &switched, sizeof(switched)))
		cpu->failed++;
	if (cpu->seen && switched.counter - cpu->switches != 1) {
		__u64 ns = now - cpu->ns, nr_events = value.counter - cpu->events;

		cpu->hidden.switches++;
		cpu->hidden.ns += ns;
		cpu->hidden.events += nr_events;
		/* A whole slice of any other task can lie between two hidden switches. */
		if (switched.counter - cpu->switches > 2)
			cpu->between += nr_events;
		identify(prev, &who);
		add(&lost, &who, ns, nr_events, cpu);
		add(&gained, &cpu->next, ns, nr_events, cpu);
	} else if (cpu->seen && is_unborn(prev)) {
		identify(prev, &who);
		add(&unborn, &who, now - cpu->ns, value.counter - cpu->events, cpu);
	}
	if (!since)
		since = now;
	identify(next, &who);
	cpu->next = who;
	cpu->ns = now;
	cpu->events = value.counter;
	cpu->switches = switched.counter;
	cpu->seen++;
	return 0;
}

SEC("raw_tp/sched_process_exit")
int on_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 pid = BPF_CORE_READ(task, pid), zero = 0;
	struct witness_cpu *cpu = bpf_map_lookup_elem(&cpus, &zero);
	struct witness_who who;

	identify(task, &who);
	if (bpf_map_update_elem(&dead, &pid, &who, BPF_ANY) && cpu)
		cpu->dropped++;
	return 0;
}

SEC("raw_tp/sched_process_free")
int on_free(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 pid = BPF_CORE_READ(task, pid);

	bpf_map_delete_elem(&dead, &pid);
	bpf_map_delete_elem(&born, &pid);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * A user's program for perf profile --prog: it counts its samples in maps of several kinds, and lets each
 * second one through.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct task {
	__u32 pid;
	char comm[12];
};

struct seen {
	__u64 samples;
	__u64 passed;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct task);
	__type(value, struct seen);
	__uint(max_entries, 1024);
} by_task SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 2);
} by_cpu SEC(".maps");

/* Without types. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, 8);
	__uint(max_entries, 4);
} untyped SEC(".maps");

__u64 nr_samples;

SEC("perf_event")
int on_event(void *ctx __attribute__((unused)))
{
	struct task task = {.pid = bpf_get_current_pid_tgid() >> 32};
	struct seen none = {}, *seen;
	__u32 one = 1, three = 3;
	__u64 *cpu = bpf_map_lookup_elem(&by_cpu, &one);
	__u64 *fixed = bpf_map_lookup_elem(&untyped, &three);
	_Bool passes;

	bpf_get_current_comm(task.comm, sizeof(task.comm));
	bpf_map_update_elem(&by_task, &task, &none, BPF_NOEXIST);
	seen = bpf_map_lookup_elem(&by_task, &task);
	if (!seen)
		return 0;
	passes = __sync_fetch_and_add(&seen->samples, 1) & 1;
	__sync_fetch_and_add(&seen->passed, passes);
	__sync_fetch_and_add(&nr_samples, 1);
	if (cpu)
		++*cpu;
	if (fixed)
		*fixed = 0x1122334455667788;
	return passes;
}

// SPDX-License-Identifier: GPL-2.0
/* A program that does not count, with maps named like a leader's: an array, and one for output. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} registry SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, 1);
} events SEC(".maps");

SEC("socket")
int target_filter(struct __sk_buff *skb)
{
	__u32 key = 0;
	__u64 *nr = bpf_map_lookup_elem(&registry, &key);

	if (nr)
		++*nr;
	return 0;
}

SEC("raw_tp")
int target_output(void *ctx)
{
	__u32 text = 0;

	bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, &text, sizeof(text));
	return 0;
}

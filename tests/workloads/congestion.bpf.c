// SPDX-License-Identifier: GPL-2.0
/* Struct_ops to be counted: a congestion control for TCP with only the required operations. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct sock;

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	char name[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} inits SEC(".maps");

SEC("struct_ops/target_init")
void target_init(__u64 *ctx)
{
	__u32 zero = 0;
	__u64 *nr = bpf_map_lookup_elem(&inits, &zero);

	if (nr)
		__sync_fetch_and_add(nr, 1);
}

SEC("struct_ops/target_ssthresh")
__u32 target_ssthresh(__u64 *ctx)
{
	return 2;
}

SEC("struct_ops/target_avoid")
void target_avoid(__u64 *ctx)
{
}

SEC("struct_ops/target_undo")
__u32 target_undo(__u64 *ctx)
{
	return 10;
}

SEC(".struct_ops")
struct tcp_congestion_ops perf_test = {
	.init = (void *)target_init,
	.ssthresh = (void *)target_ssthresh,
	.cong_avoid = (void *)target_avoid,
	.undo_cwnd = (void *)target_undo,
	.name = "perf_test",
};

// SPDX-License-Identifier: GPL-2.0
/* BPF programs to be counted in test runs: loops of known length, and types that hooks.bpf.c has not. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

#define MAX_LOOPS 4000

/* Each round is the same few instructions. */
static __attribute__((always_inline)) void spin(__u64 n)
{
	for (__u64 i = 0; i < MAX_LOOPS && i < n; i++)
		asm volatile("" : "+r"(i));
}

/* Test runs: loops as the first argument says. */
SEC("raw_tp")
int target_loop(struct bpf_raw_tracepoint_args *ctx)
{
	spin(ctx->args[0]);
	return 0;
}

/* The same once more, to be counted at the same time. */
SEC("raw_tp")
int target_twin(struct bpf_raw_tracepoint_args *ctx)
{
	spin(ctx->args[0]);
	return 0;
}

SEC("raw_tp")
int target_empty(void *ctx)
{
	return 0;
}

/* Its work is in a program of its own. */
static __attribute__((noinline)) int work(__u64 n)
{
	for (__u64 i = 0; i < MAX_LOOPS && i < n; i++)
		asm volatile("" : "+r"(i));
	return n;
}

SEC("raw_tp")
int target_subprog(struct bpf_raw_tracepoint_args *ctx)
{
	return work(ctx->args[0]);
}

/* Tail calls: the first calls the second, once that is in the map. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, 1);
} tails SEC(".maps");

SEC("raw_tp")
int target_caller(struct bpf_raw_tracepoint_args *ctx)
{
	bpf_tail_call(ctx, &tails, 0);
	return 0;
}

SEC("raw_tp")
int target_tail(struct bpf_raw_tracepoint_args *ctx)
{
	spin(ctx->args[0]);
	return 0;
}

/* Real runs, and how many they were as the program itself counts them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 2);
} seen SEC(".maps");

static __attribute__((always_inline)) void see(__u32 which)
{
	__u64 *nr = bpf_map_lookup_elem(&seen, &which);

	if (nr)
		__sync_fetch_and_add(nr, 1);
}

/* Loops long when its argument is an address, as that of a tracepoint is. */
SEC("raw_tp")
int target_seen(struct bpf_raw_tracepoint_args *ctx)
{
	see(0);
	spin(ctx->args[0]);
	return 0;
}

/* Only test runs. */
SEC("xdp")
int target_xdp(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("lwt_in")
int target_lwt_in(struct __sk_buff *skb)
{
	return 0;
}

SEC("lwt_xmit")
int target_lwt_xmit(struct __sk_buff *skb)
{
	return 0;
}

/* Reads user memory so often: other tasks may run meanwhile. */
struct reads {
	__u64 nr;
	__u64 from;
};

static long read_one(__u32 i, struct reads *reads)
{
	__u64 value;

	return bpf_copy_from_user(&value, sizeof(value), (void *)reads->from) != 0;
}

SEC("syscall")
int target_syscall(struct reads *ctx)
{
	struct reads reads = *ctx;

	see(1);
	return bpf_loop(reads.nr, read_one, &reads, 0) != (long)reads.nr;
}

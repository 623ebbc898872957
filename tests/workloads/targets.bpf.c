// SPDX-License-Identifier: GPL-2.0
/* BPF programs to be counted in test runs: loops of known length, and types that hooks.bpf.c lacks. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

#define MAX_LOOPS 4000

/* Execute the same few instructions @n times. */
static __attribute__((always_inline)) void spin(__u64 n)
{
	for (__u64 i = 0; i < MAX_LOOPS && i < n; i++)
		asm volatile("" : "+r"(i));
}

/* For test runs: loop as often as the first argument asks. */
SEC("raw_tp")
int target_loop(struct bpf_raw_tracepoint_args *ctx)
{
	spin(ctx->args[0]);
	return 0;
}

/* The same, to be counted at the same time. */
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

/* Do the work of the next program in a subprogram. */
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

/* For tail calls: the first program calls the second one, once the map has that. */
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

/* The programs' own counts of their executions. */
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

/* Loop long if the argument is an address, like a tracepoint's. */
SEC("raw_tp")
int target_seen(struct bpf_raw_tracepoint_args *ctx)
{
	see(0);
	spin(ctx->args[0]);
	return 0;
}

/* For test runs only. */
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

/* The argument: how often to read user memory, which lets the program sleep and other tasks run. */
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

// SPDX-License-Identifier: GPL-2.0
/*
 * Programs that take so long that samples come inside of them, for hooks.c. The kernel then takes no sample: it runs
 * no second program of that kind on the CPU.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* Executions. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} hits SEC(".maps");

#define ROUNDS 20000

static long wait_a_round(__u32 i, void *ctx)
{
	(void)i;
	(void)ctx;
	return 0;
}

static __attribute__((noinline)) int wait_long(void)
{
	__u32 zero = 0;
	__u64 *nr = bpf_map_lookup_elem(&hits, &zero);

	if (nr)
		__sync_fetch_and_add(nr, 1);
	bpf_loop(ROUNDS, wait_a_round, NULL, 0);
	return 0;
}

SEC("tracepoint/syscalls/sys_enter_socketpair")
int hook_slow_tp(void *ctx)
{
	(void)ctx;
	return wait_long();
}

SEC("kprobe/security_socket_socketpair")
int hook_slow_kprobe(void *ctx)
{
	(void)ctx;
	return wait_long();
}

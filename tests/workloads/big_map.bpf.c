// SPDX-License-Identifier: GPL-2.0
/* A program for samples with a map whose elements take many seconds to print. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 4000000);
} big SEC(".maps");

SEC("perf_event")
int pass(void *ctx __attribute__((unused)))
{
	return 1;
}

// SPDX-License-Identifier: GPL-2.0
/* A tracing program at a BPF program, which progload is given: no other can be put on it. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("fexit")
int target_nested(void *ctx)
{
	return 0;
}

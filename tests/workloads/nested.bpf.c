// SPDX-License-Identifier: GPL-2.0
/* A tracing program at the BPF program that progload names: no other one can be attached to it. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("fexit")
int target_nested(void *ctx)
{
	return 0;
}

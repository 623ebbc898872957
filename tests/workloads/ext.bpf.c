// SPDX-License-Identifier: GPL-2.0
/* An extension (freplace): runs in place of the program that progload names. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("freplace")
int target_ext(struct bpf_raw_tracepoint_args *ctx)
{
	for (__u64 i = 0; i < 1000; i++)
		asm volatile("" : "+r"(i));
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/* A program for samples that reads memory which is not its own: the kernel refuses it. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("perf_event")
int wild(void *ctx)
{
	return *(volatile int *)(*(volatile long *)ctx + 8);
}

// SPDX-License-Identifier: GPL-2.0
/* Two programs for samples, of which perf profile --prog takes one. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("perf_event")
int first(void *ctx __attribute__((unused)))
{
	return 1;
}

SEC("perf_event")
int second(void *ctx __attribute__((unused)))
{
	return 1;
}

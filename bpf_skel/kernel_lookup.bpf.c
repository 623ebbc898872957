// SPDX-License-Identifier: GPL-2.0
/* Names of addresses in the kernel, for util/symbol/kernel_lookup.c. */
#include <linux/bpf.h>

#include "kernel_lookup.h"

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct kernel_query queries[MAX_KERNEL_QUERIES];

/* Answer the first queries. Never attached; only BPF_PROG_TEST_RUN runs it, with their number. */
SEC("raw_tp")
int on_lookup(struct bpf_raw_tracepoint_args *ctx)
{
	static const char format[] = "%pS";
	__u64 nr = ctx->args[0];

	for (__u32 i = 0; i < MAX_KERNEL_QUERIES && i < nr; i++)
		bpf_snprintf(queries[i].text, sizeof(queries[i].text), format, &queries[i].address,
			     sizeof(queries[i].address));
	return 0;
}

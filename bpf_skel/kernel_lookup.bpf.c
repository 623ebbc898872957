// SPDX-License-Identifier: GPL-2.0
/* The name of an address in the kernel, for util/symbol/kernel_lookup.c. */
#include <linux/bpf.h>

#include "kernel_lookup.h"

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct kernel_query query;

/* Never has an event. By such a map perf stat -b knows programs of tools that count (util/target/bpf_prog.c). */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(map_flags, BPF_F_PRESERVE_ELEMS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, 1);
} no_events SEC(".maps");

/* Answer the query. Never attached; only BPF_PROG_TEST_RUN runs it. */
SEC("raw_tp")
int on_lookup(void *ctx __attribute__((unused)))
{
	static const char format[] = "%pS";

	if (bpf_snprintf(query.text, sizeof(query.text), format, &query.address,
			 sizeof(query.address)) < 0)
		query.text[0] = '\0';
	return 0;
}

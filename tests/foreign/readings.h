/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TESTS_FOREIGN_READINGS_H
#define PERF_TESTS_FOREIGN_READINGS_H

/* The map that leader and follower of the established protocol share: a reading per CPU. */

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct readings {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(key_size, sizeof(__u32)); /* 0 */
	__uint(value_size, sizeof(struct bpf_perf_event_value));
	__uint(max_entries, 1);
};

/* The increase at the last execution of the leader's program on this CPU, for followers to read. */
struct readings diff_readings SEC(".maps");

static __always_inline struct bpf_perf_event_value *reading_of(struct readings *readings)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(readings, &zero);
}

char LICENSE[] SEC("license") = "GPL";

#endif

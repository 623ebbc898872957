// SPDX-License-Identifier: GPL-2.0
/*
 * A follower of the established protocol: after each run of a leader's on_switch it adds what that
 * added, if the current task, which is the one that goes, is of the process that it counts.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct {
	__u32 process;		/* 0: all */
	__u32 enabled;
} state;

/* The leader's. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct bpf_perf_event_value));
	__uint(max_entries, 1);
} diff_readings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct bpf_perf_event_value));
	__uint(max_entries, 1);
} accum_readings SEC(".maps");

SEC("fexit/on_switch")
int after_switch(void *ctx)
{
	struct bpf_perf_event_value *diff, *sum;
	__u32 zero = 0;

	if (!state.enabled ||
	    (state.process && bpf_get_current_pid_tgid() >> 32 != state.process))
		return 0;
	diff = bpf_map_lookup_elem(&diff_readings, &zero);
	sum = bpf_map_lookup_elem(&accum_readings, &zero);
	if (!diff || !sum)
		return 0;
	sum->counter += diff->counter;
	sum->enabled += diff->enabled;
	sum->running += diff->running;
	return 0;
}

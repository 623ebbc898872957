// SPDX-License-Identifier: GPL-2.0
/*
 * A leader of the established protocol (Documentation/design.md, "Other implementations"), without any
 * of our additions: it reads one event at each switch, and publishes the increase to its followers.
 */
#include "readings.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(map_flags, BPF_F_PRESERVE_ELEMS);
} events SEC(".maps");

struct readings prev_readings SEC(".maps");

SEC("raw_tp/sched_switch")
int on_switch(void *ctx)
{
	struct bpf_perf_event_value now, *prev, *diff;
	__u32 key = bpf_get_smp_processor_id();

	if (bpf_perf_event_read_value(&events, key, &now, sizeof(now)))
		return 0;
	prev = reading_of(&prev_readings);
	diff = reading_of(&diff_readings);
	if (!prev || !diff)
		return 0;
	diff->counter = now.counter - prev->counter;
	diff->enabled = now.enabled - prev->enabled;
	diff->running = now.running - prev->running;
	*prev = now;
	return 0;
}

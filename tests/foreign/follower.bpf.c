// SPDX-License-Identifier: GPL-2.0
/*
 * A follower of the established protocol. After each execution of a leader's on_switch it adds the
 * increase that the leader published, if the current task, which leaves the CPU, is of its process.
 */
#include "readings.h"

struct {
	__u32 process; /* 0 for all */
	__u32 enabled;
} state;

struct readings accum_readings SEC(".maps");

SEC("fexit/on_switch")
int after_switch(void *ctx)
{
	struct bpf_perf_event_value *diff, *sum;

	if (!state.enabled || (state.process && bpf_get_current_pid_tgid() >> 32 != state.process))
		return 0;
	diff = reading_of(&diff_readings);
	sum = reading_of(&accum_readings);
	if (!diff || !sum)
		return 0;
	sum->counter += diff->counter;
	sum->enabled += diff->enabled;
	sum->running += diff->running;
	return 0;
}

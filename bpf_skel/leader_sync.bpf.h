/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_SYNC_H
#define PERF_BPF_LEADER_SYNC_H

/* The rows of whole CPUs, and CPUs that come and go. */
#include "leader_tasks.bpf.h"

/* The events of each CPU, as its last sync read them. Written by on_sync, read by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);			/* CPU */
	__type(value, struct cpu_readings);
	__uint(max_entries, 1);			/* nr_cpus, set before load */
} readings SEC(".maps");

/* The CPU's row, and which slots of it are wanted. */
struct sync {
	struct cpu_state *state;
	struct cpu_readings *row;
	__u32 cpu;
	__u64 mask[MASK_WORDS];
};

/* Read one event into the row; a read that fails leaves the numbers as they were. */
static long sync_event(__u32 slot, struct sync *sync)
{
	struct event_reading *to;
	const struct event_base *base;
	struct bpf_perf_event_value now;
	long err;

	slot %= MAX_EVENTS;
	if (!(sync->mask[slot / 64] >> slot % 64 & 1))
		return 0;
	to = &sync->row->event[slot];
	base = &sync->state->base[slot];
	err = read_event(base, slot, sync->cpu, &now);
	to->gen = base->gen;
	to->err = -err;
	if (err)
		return 0;
	to->counter = base->counter + now.counter;
	to->enabled_ns = base->enabled_ns + now.enabled;
	to->running_ns = base->running_ns + now.running;
	return 0;
}

static __always_inline void read_row(struct sync *sync, __u64 nr_slots)
{
	raise_seq(&sync->row->seq);
	bpf_loop(nr_slots, sync_event, sync, 0);
	raise_seq(&sync->row->seq);
}

/*
 * Bring this CPU up to date: its row, for the slots in the mask that the first four arguments are,
 * of which the highest is below the fifth; and, if the sixth is not 0, the sums of the task it
 * runs, whose class is looked up again: it may have been marked since it was switched to.
 * Never attached, run by BPF_PROG_TEST_RUN only. Returns 1 when done and 0 when it found another
 * change under way: on the caller's own CPU a test run leaves interrupts on, and another one may
 * come in the interrupt. (Newer kernels skip such a run themselves and report 0, too.)
 */
SEC("raw_tp")
int on_sync(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 nr_slots = ctx->args[4], with_tasks = ctx->args[5];
	struct sync sync = {
		.cpu = bpf_get_smp_processor_id(),
		.mask = { ctx->args[0], ctx->args[1], ctx->args[2], ctx->args[3] },
	};
	__u32 cpu = sync.cpu;
	struct cpu_state *state;

	sync.row = bpf_map_lookup_elem(&readings, &cpu);
	sync.state = state = bpf_map_lookup_elem(&cpus, &cpu);
	if (!sync.row || !state)
		return 0;
	if (state->busy) {
		state->nested++;
		return 0;
	}
	begin_change(state);
	read_row(&sync, nr_slots);
	if (with_tasks)
		charge(state, cpu, OF_TASK, state->class[OF_TASK],
		       class_of(bpf_get_current_task()), false, 0);
	end_change(state);
	return 1;
}

/*
 * Before each step of a CPU that comes or goes, on that CPU. While it goes, what its events counted
 * is read: at one of the steps the kernel takes them away. When it has come, runs are called to
 * open others; the last step is before the first task can run there.
 */
SEC("raw_tp/cpuhp_enter")
int on_hotplug(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	int target = ctx->args[1], now = ctx->args[2];
	struct sync sync = { .mask = { -1, -1, -1, -1 } };
	struct cpu_state *state;
	unsigned long flags;

	if (ctx->args[0] != cpu)
		return 0;
	sync.cpu = cpu;
	sync.row = bpf_map_lookup_elem(&readings, &cpu);
	sync.state = state = bpf_map_lookup_elem(&cpus, &cpu);
	if (!sync.row || !state)
		return 0;
	state->is_leaving = target < now;
	if (target >= now) {
		state->up_ns = bpf_ktime_get_ns();
		call_runs(&cpu);
		return 0;
	}
	if (has_irq_save())
		bpf_local_irq_save(&flags);
	/* Whoever holds it reads, too, and there is another step to come. */
	if (!state->busy) {
		begin_change(state);
		read_row(&sync, MAX_EVENTS);
		end_change(state);
	}
	if (has_irq_save())
		bpf_local_irq_restore(&flags);
	__sync_fetch_and_add(&state->epoch, 2);
	return 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_CPU_H
#define PERF_BPF_LEADER_CPU_H

/* One CPU: reading its events, changing its state, calling the runs. */
#include "kernel_types.bpf.h"
#include "leader_events.bpf.h"

const volatile __u32 nr_cpus = 1;

/*
 * Calls for whoever waits: something has changed that a run should look after. What is in it means
 * nothing; to have called is enough. Written by programs, emptied by whoever looks.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1);			/* a page, set before load */
} calls SEC(".maps");

static __always_inline void call_runs(__u32 *any)
{
	bpf_ringbuf_output(&calls, any, sizeof(*any), BPF_RB_FORCE_WAKEUP);
}

/*
 * Around what changes a CPU's state, where another program may interrupt it. Runs nest strictly on
 * one CPU, so plain stores do; the compiler must keep their order.
 */
static __always_inline void begin_change(struct cpu_state *state)
{
	*(volatile __u64 *)&state->busy = 1;
	barrier();
}

static __always_inline void end_change(struct cpu_state *state)
{
	barrier();
	*(volatile __u64 *)&state->busy = 0;
}

/*
 * The same in a program that is attached to something else than switches, with interrupts off. The
 * kernels that can preempt it (tracepoints since 7.x) have the means to forbid that; the others keep
 * preemption off.
 * Return: this CPU's state; NULL: another change is under way, and this one is lost.
 */
static __always_inline struct cpu_state *seize_cpu(__u32 *cpu, unsigned long *irq_flags)
{
	struct cpu_state *state;

	if (has_irq_save())
		bpf_local_irq_save(irq_flags);
	*cpu = bpf_get_smp_processor_id();
	state = bpf_map_lookup_elem(&cpus, cpu);
	if (!state)
		return NULL;
	if (state->busy) {
		state->lost++;
		return NULL;
	}
	begin_change(state);
	return state;
}

static __always_inline void release_cpu(struct cpu_state *state, unsigned long *irq_flags)
{
	if (state)
		end_change(state);
	if (has_irq_save())
		bpf_local_irq_restore(irq_flags);
}

static __attribute__((noinline)) long read_foreign(__u32 slot, __u32 idx,
						   struct bpf_perf_event_value *now)
{
	void *inner = bpf_map_lookup_elem(&foreign, &slot);

	if (!inner)
		return -2;	/* ENOENT */
	return bpf_perf_event_read_value(inner, idx, now, sizeof(*now));
}

static __always_inline long read_own(__u32 slot, __u32 cpu, struct bpf_perf_event_value *now)
{
	return bpf_perf_event_read_value(&events, (__u64)slot * nr_cpus + cpu, now, sizeof(*now));
}

static __always_inline long read_event(const struct event_base *base, __u32 slot, __u32 cpu,
				       struct bpf_perf_event_value *now)
{
	return base->flags & EVENT_FOREIGN ? read_foreign(slot, base->foreign_idx, now) :
					     read_own(slot, cpu, now);
}

static __always_inline void set_snapshot(struct event_reading *snap,
					 const struct bpf_perf_event_value *now, __u32 gen)
{
	snap->counter = now->counter;
	snap->enabled_ns = now->enabled;
	snap->running_ns = now->running;
	snap->gen = gen;
}

#endif

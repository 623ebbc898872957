/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_CPU_H
#define PERF_BPF_LEADER_CPU_H

/* Part of the leader's objects, not a header: one CPU, with its events and state. */
#include "leader_wakeups.bpf.h"

const volatile __u32 nr_cpus = 1;

/*
 * Begin to change a CPU's state, where another program may interrupt this one. Programs nest
 * strictly on one CPU, so plain stores suffice; the compiler must keep their order.
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
 * Begin a test run that changes this CPU's state.
 * Return: the state; NULL: another change is under way.
 */
static __always_inline struct cpu_state *begin_sync(__u32 *cpu)
{
	struct cpu_state *state;

	*cpu = bpf_get_smp_processor_id();
	state = bpf_map_lookup_elem(&cpus, cpu);
	if (!state)
		return NULL;
	if (state->busy) {
		state->nested++;
		return NULL;
	}
	begin_change(state);
	return state;
}

static __attribute__((noinline)) long read_foreign(__u32 slot, __u32 idx,
						   struct bpf_perf_event_value *now)
{
	void *inner = bpf_map_lookup_elem(&foreign, &slot);

	if (!inner)
		return -2; /* ENOENT */
	return bpf_perf_event_read_value(inner, idx, now, sizeof(*now));
}

static __always_inline long read_own(__u32 slot, __u32 cpu, struct bpf_perf_event_value *now)
{
	return bpf_perf_event_read_value(&events, (__u64)slot * nr_cpus + cpu, now, sizeof(*now));
}

static __always_inline long read_any(const struct event_base *base, __u32 slot, __u32 cpu,
				     struct bpf_perf_event_value *now)
{
	return base->flags & EVENT_FOREIGN ? read_foreign(slot, base->foreign_idx, now) :
					     read_own(slot, cpu, now);
}

/*
 * Return: whether nobody has opened the event since this CPU came back. While the CPU goes, its
 * events still count.
 */
static __always_inline bool is_stale(const struct cpu_state *state, const struct event_base *base)
{
	return base->epoch != state->epoch + 1 && !state->is_leaving;
}

/* Read an event; a dead one, which would give the same value for ever, fails. */
static __always_inline long read_event(const struct cpu_state *state, const struct event_base *base,
				       __u32 slot, __u32 cpu, struct bpf_perf_event_value *now)
{
	return is_stale(state, base) ? -2 /* ENOENT */ : read_any(base, slot, cpu, now);
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

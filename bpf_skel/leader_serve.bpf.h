/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_SERVE_H
#define PERF_BPF_LEADER_SERVE_H

/* Part of leader.bpf.c, not a header: serving foreign followers in on_switch. */
#include "leader_cpu.bpf.h"

/*
 * The counts that on_switch has added on this CPU. The programs of foreign followers read DIFF_COUNTS
 * after each execution of on_switch, from the inner maps.
 */
struct diff {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(key_size, sizeof(__u32)); /* enum diff_entry */
	__uint(value_size, sizeof(struct bpf_perf_event_value));
	__uint(max_entries, NR_DIFF_ENTRIES);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32); /* slot */
	__uint(max_entries, MAX_EVENTS);
	__array(values, struct diff);
} diffs SEC(".maps");

/* State of the loop over served events. */
struct serving {
	struct cpu_state *state;
	__u32 cpu;
	bool at_switch;
	__u64 only_zeros; /* not a bool, which would be a branch */
};

/* Write the diff of one slot. Each execution writes every diff, as followers always add them. */
static long serve_one(__u32 i, struct serving *serving)
{
	struct cpu_state *state = serving->state;
	__u32 slot, counts = DIFF_COUNTS, reading = DIFF_READING, gen, *last_gen;
	const struct event_base *base;
	struct bpf_perf_event_value *diff, *last, now;
	void *inner;

	if (i >= MAX_EVENTS)
		return 1;
	slot = state->serve[i];
	if (slot >= MAX_EVENTS)
		return 0;
	base = &state->base[slot];
	last_gen = &state->served_gen[slot];
	/* Otherwise the compiler computes it anew, from a slot that the verifier has forgotten. */
	barrier_var(last_gen);
	gen = base->gen;
	inner = bpf_map_lookup_elem(&diffs, &slot);
	if (!inner)
		return 0;
	diff = bpf_map_lookup_elem(inner, &counts);
	last = bpf_map_lookup_elem(inner, &reading);
	if (!diff || !last)
		return 0;
	diff->counter = diff->enabled = diff->running = 0;
	if (serving->only_zeros)
		return 0;
	if (read_event(state, base, slot, serving->cpu, &now)) {
		*last_gen = 0;
		return 0;
	}
	if (serving->at_switch && base->flags & EVENT_SWITCHES)
		now.counter++;
	if (*last_gen == gen) {
		diff->counter = now.counter - last->counter;
		diff->enabled = now.enabled - last->enabled;
		diff->running = now.running - last->running;
	}
	*last = now;
	*last_gen = gen;
	return 0;
}

/*
 * Return: 1 if the time is past, otherwise 0; a time of 0 never is. With a branch here, the
 * verifier would walk the loop twice.
 */
static __always_inline __u64 is_past(__u64 time_ns)
{
	return ((time_ns - bpf_ktime_get_ns()) & -time_ns) >> 63;
}

/*
 * Leave MODE_SERVE. A session can begin to serve at the same time: it writes the time first, then
 * the mode. So either the session sets the mode after this, or this finds the new time.
 */
static __always_inline void end_serving(struct cpu_state *state)
{
	/* Use the old value: only then the kernel orders this before the rest. */
	if (__sync_fetch_and_and(&state->mode, ~MODE_SERVE) & MODE_SERVE &&
	    !is_past(*(volatile __u64 *)&state->serve_until_ns))
		__sync_fetch_and_or(&state->mode, MODE_SERVE);
}

/*
 * Write the diffs for foreign followers, whose programs run right after this. One test run can
 * interrupt another, and must not see half of the other's work. A leader that no session serves
 * for goes on until its time is over; the execution that finds this leaves zeros for all later readers.
 */
static __always_inline void serve(struct cpu_state *state, __u32 cpu, bool at_switch)
{
	__u64 is_busy = state->busy, is_over = is_past(state->serve_until_ns) & ~is_busy;
	struct serving serving = {
		.state = state,
		.cpu = cpu,
		.at_switch = at_switch,
		.only_zeros = is_busy | is_over,
	};

	if (!is_busy && !at_switch)
		begin_change(state);
	bpf_loop(state->nr_serve, serve_one, &serving, 0);
	if (is_over)
		end_serving(state);
	if (!is_busy && !at_switch)
		end_change(state);
}

/*
 * Return: true at a switch, false in a test run. The program must not load from its context,
 * because the kernel refuses to test-run such a raw_tp program without one, as foreign followers
 * do. So it reads by helper: that fails without a context. Another tracepoint, or a context that
 * was made up, has no current task that goes, with another one that comes.
 */
static __always_inline bool is_switch(void *ctx)
{
	__u64 args[3] = {}; /* preemption, the task that goes, the one that comes */

	if (bpf_probe_read_kernel(args, sizeof(args), ctx))
		return false;
	return args[1] == bpf_get_current_task() && args[2] != args[1];
}

/*
 * The program that the attr map's entries lead to, through its link. That link attaches it to a
 * tracepoint that practically never fires; a second link attaches it to sched_switch while foreign
 * followers are served. It needs none of the kernel's types, and counts nothing for our sessions.
 */
SEC("raw_tp")
int on_switch(void *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct cpu_state *state = bpf_map_lookup_elem(&cpus, &cpu);
	bool at_switch = is_switch(ctx);

	if (!state)
		return 0;
	if (state->mode & MODE_SERVE)
		serve(state, cpu, at_switch);
	else if (!at_switch && !state->foreign_executions++)
		/* The first of them: wake a session to serve it. */
		wake_sessions(&cpu);
	return 0;
}

#endif

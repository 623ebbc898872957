/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_SERVE_H
#define PERF_BPF_LEADER_SERVE_H

/* Followers of other implementations: what on_switch does for them. */
#include "leader_cpu.bpf.h"

/*
 * What followers of other implementations read after each run of on_switch: what it added, on this
 * CPU. Their programs use the inner maps.
 */
struct diff {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(key_size, sizeof(__u32));	/* 0 */
	__uint(value_size, sizeof(struct bpf_perf_event_value));
	__uint(max_entries, 1);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);			/* slot */
	__uint(max_entries, MAX_EVENTS);
	__array(values, struct diff);
} diffs SEC(".maps");

/* What the loop over served events shares. */
struct serving {
	struct cpu_state *state;
	__u32 cpu;
	bool at_switch;
	bool is_busy;
};

/* Every run writes every diff: what is in one is added by its followers, whatever ran. */
static long serve_one(__u32 i, struct serving *serving)
{
	struct cpu_state *state = serving->state;
	__u32 slot = state->serve[i % MAX_EVENTS], zero = 0, gen;
	const struct event_base *base;
	struct event_reading *last;
	struct bpf_perf_event_value *diff, now;
	void *inner;

	if (slot >= MAX_EVENTS)
		return 0;
	base = &state->base[slot];
	last = &state->served[slot];
	gen = base->gen;
	inner = bpf_map_lookup_elem(&diffs, &slot);
	diff = inner ? bpf_map_lookup_elem(inner, &zero) : NULL;
	if (!diff)
		return 0;
	diff->counter = diff->enabled = diff->running = 0;
	if (serving->is_busy)
		return 0;
	if (read_event(base, slot, serving->cpu, &now)) {
		last->gen = 0;
		return 0;
	}
	if (serving->at_switch && base->flags & EVENT_SWITCHES)
		now.counter++;
	if (last->gen == gen) {
		diff->counter = now.counter - last->counter;
		diff->enabled = now.enabled - last->enabled_ns;
		diff->running = now.running - last->running_ns;
	}
	set_snapshot(last, &now, gen);
	return 0;
}

/*
 * Run for followers of other implementations, whose programs run right after. A test run can be
 * interrupted by another and must not find itself half done.
 */
static __always_inline void serve(struct cpu_state *state, __u32 cpu, bool at_switch)
{
	struct serving serving = { .state = state, .cpu = cpu, .at_switch = at_switch };

	serving.is_busy = state->busy;
	if (!serving.is_busy && !at_switch)
		begin_change(state);
	bpf_loop(state->nr_serve, serve_one, &serving, 0);
	if (!serving.is_busy && !at_switch)
		end_change(state);
}

/* What on_switch does besides looking after tasks; whether there are any. */
static __attribute__((noinline)) int do_others(struct cpu_state *state, __u32 cpu, bool at_switch)
{
	if (state->mode & MODE_SERVE)
		serve(state, cpu, at_switch);
	else if (!at_switch && !state->strangers++)
		/* The first of them: one of our runs is to look after it. */
		call_runs(&cpu);
	return at_switch && state->mode & MODE_TASKS;
}

#endif

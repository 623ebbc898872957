/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_SLICES_H
#define PERF_BPF_LEADER_SLICES_H

/*
 * Part of the leader's objects, not a header: charging slices to scope sets.
 *
 * A slice is the time in which a CPU runs one scope set. At its end, the counts of the scope set's
 * events are added to the scope set's cells.
 */
#include "leader_cpu.bpf.h"
#include "leader_scopes.bpf.h"

/* Sets of events. User space writes it under the lock of tasks. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct reg_set);
	__uint(max_entries, MAX_SETS);
} sets SEC(".maps");

/* The slice of each CPU's task. The programs on that CPU write it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32); /* CPU */
	__type(value, struct task_slice);
	__uint(max_entries, 1); /* nr_cpus, set before load */
} task_slices SEC(".maps");

struct sum_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(__u32)); /* CPU */
	__uint(value_size, sizeof(struct sum_block));
	__uint(max_entries, 1); /* nr_cpus, set before load */
};

/* Chunks of cells. User space adds them under the lock of tasks; each CPU writes its cells. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, MAX_CHUNKS);
	__array(values, struct sum_chunk);
} sums SEC(".maps");

/*
 * Events that a switch reads without a call for each: as many as there are counters. The verifier
 * walks every one, which costs the first session more than a million instructions.
 */
#define QUICK_EVENTS 6
#define QUICK_BEGINS 2 /* of slices that begin with other events: rarer */

/* State of the loops over events. */
struct slice {
	struct cpu_state *state;
	struct event_reading *snapshot; /* MAX_EVENTS of them */
	struct reg_set *from, *to;	/* the events of the slices that end and begin */
	struct reg_set *fresh[2];	/* events whose task snapshot is of this switch... */
	struct task_slice *task;	/* ...which is in here */
	struct sum_block *block;	/* cells of the slice that ends */
	__u32 cell;
	__u32 cpu;
	__u32 done;    /* events before the first of the loop */
	bool is_quick; /* at a switch, and all events are our own */
	/* Bit per enum switch_event: the kernel adds 1 to such events after this */
	__u32 missing_from, missing_to;
	__u32 stride; /* copy of nr_cpus, saves a map load */
};

/*
 * Read an event, and note a failure. If the CPU lacks the event, that is no failure; user space
 * considers that when it reads `failed`.
 */
static __always_inline bool read_failed(struct slice *slice, struct event_reading *snap, __u32 slot,
					struct bpf_perf_event_value *now, bool is_quick)
{
	if (!(is_quick ?
		      bpf_perf_event_read_value(&events, (__u64)slot * slice->stride + slice->cpu,
						now, sizeof(*now)) :
		      read_event(slice->state, &slice->state->base[slot], slot, slice->cpu, now)))
		return false;
	snap->gen = 0;
	snap->failed++;
	return true;
}

static __always_inline void add_difference(struct slice *slice, __u32 i,
					   const struct event_reading *snap,
					   const struct bpf_perf_event_value *now)
{
	struct sum *sum = &slice->block->cell[(slice->cell + i) % CHUNK_CELLS];

	sum->counter += now->counter - snap->counter;
	sum->enabled_ns += now->enabled - snap->enabled_ns;
	sum->running_ns += now->running - snap->running_ns;
}

/*
 * Note in the running scope sets that an event could not be read: they ran, though nothing may be charged
 * to them. Not static, so that the verifier walks it once, and not for each way here.
 */
__attribute__((noinline)) int note_failed(struct cpu_state *state)
{
	struct reg_scope_set *scope_set;
	__u32 id;

	if (!state)
		return 0;
#pragma clang loop unroll(full)
	for (int kind = 0; kind < NR_SCOPE_SET_KINDS; kind++) {
		/* 6.1 takes no key from memory that a global function was given. */
		id = state->scope_set[kind];
		scope_set = bpf_map_lookup_elem(&scope_sets, &id);
		if (scope_set)
			__sync_fetch_and_add(&scope_set->failed, 1);
	}
	return 0;
}

/* A slice began before a session opened the event of a CPU that came back: that reading failed. */
static __always_inline void note_dead(struct slice *slice)
{
	if (slice->state->mode & MODE_DEAD)
		note_failed(slice->state);
}

/*
 * Add one event of the slice that ends to the scope set. A context switch that the kernel has not
 * counted yet belongs to the task that goes.
 */
static __always_inline long end_one(__u32 i, struct slice *slice, bool is_quick)
{
	__u32 slot = slice->from->slot[i] % MAX_EVENTS;
	struct event_reading *snap = &slice->snapshot[slot];
	__u32 gen = slice->state->base[slot].gen;
	struct bpf_perf_event_value now;

	/* Otherwise the compiler computes the address of each field anew. */
	barrier_var(snap);
	if (read_failed(slice, snap, slot, &now, is_quick)) {
		note_failed(slice->state);
		return 0;
	}
	/* With a snapshot of another event, or of none, this slice's counts are unknown. */
	if (snap->gen == gen) {
		if (slice->missing_from &&
		    now.enabled - snap->enabled_ns == now.running - snap->running_ns)
			now.counter += slice->missing_from >> slice->from->is_switches[i] & 1;
		add_difference(slice, i, snap, &now);
	} else if (!is_quick) {
		note_dead(slice);
	}
	set_snapshot(snap, &now, gen);
	return 0;
}

/* Start one event of the slice that begins, unless it was read for the one that ended. */
static __always_inline long begin_one(__u32 i, struct slice *slice, bool is_quick)
{
	__u32 slot;
	struct bpf_perf_event_value now;
	struct event_reading *snap;

	slot = slice->to->slot[i] % MAX_EVENTS;
	if (slice->from->mask[slot / 64] >> slot % 64 & 1)
		return 0;
	snap = &slice->snapshot[slot];
	barrier_var(snap);
	if (read_failed(slice, snap, slot, &now, is_quick))
		return 0;
	if (slice->missing_to)
		now.counter += slice->missing_to >> slice->to->is_switches[i] & 1;
	set_snapshot(snap, &now, slice->state->base[slot].gen);
	return 0;
}

/* The end of the set also ends the loop: a wrong number of events must not keep a CPU in it. */
static long end_event(__u32 i, struct slice *slice)
{
	i += slice->done;
	return i >= SET_EVENTS ? 1 : end_one(i, slice, false);
}

static long begin_event(__u32 i, struct slice *slice)
{
	i += slice->done;
	return i >= SET_EVENTS ? 1 : begin_one(i, slice, false);
}

/*
 * Loop with a call per event: the verifier walks it once, however long it is. Switches do their
 * first few events without calls, because these are the ones that cost.
 */
static __always_inline void end_events(struct slice *slice, __u32 nr, bool at_switch)
{
	/* Unrolled: 6.1 refuses loops that are entered by falling into them. */
	if (at_switch && slice->is_quick) {
#pragma clang loop unroll(full)
		for (__u32 i = 0; i < QUICK_EVENTS; i++) {
			if (i < nr)
				end_one(i, slice, true);
		}
		slice->done = QUICK_EVENTS;
	}
	if (slice->done < nr)
		bpf_loop(nr - slice->done, end_event, slice, 0);
}

static __always_inline void begin_events(struct slice *slice, __u32 nr, bool at_switch)
{
	/* Unrolled: 6.1 refuses loops that are entered by falling into them. */
	if (at_switch && slice->is_quick) {
#pragma clang loop unroll(full)
		for (__u32 i = 0; i < QUICK_BEGINS; i++) {
			if (i < nr)
				begin_one(i, slice, true);
		}
		slice->done = QUICK_BEGINS;
	}
	if (slice->done < nr)
		bpf_loop(nr - slice->done, begin_event, slice, 0);
}

/* Find the events and cells of two scope sets; @missing is what slice.missing_from may be. */
static __always_inline bool find_sets(struct slice *slice, __u32 old, __u32 new, __u32 missing,
				      bool *is_same)
{
	struct reg_scope_set *from = bpf_map_lookup_elem(&scope_sets, &old);
	struct reg_scope_set *to = bpf_map_lookup_elem(&scope_sets, &new);
	__u32 chunk;
	void *inner;

	if (!from || !to)
		return false;
	slice->from = bpf_map_lookup_elem(&sets, &from->set);
	slice->to = bpf_map_lookup_elem(&sets, &to->set);
	if (!slice->from || !slice->to)
		return false;
	*is_same = from->set == to->set;
	/* Without a branch: the verifier would walk the rest once for each way. */
	slice->missing_from = -slice->from->has_switches & missing;
	slice->missing_to = -slice->to->has_switches & missing;
	slice->stride = nr_cpus;
	slice->block = NULL;
	if (slice->from->nr) {
		chunk = from->cell / CHUNK_CELLS;
		slice->cell = from->cell;
		inner = bpf_map_lookup_elem(&sums, &chunk);
		slice->block = inner ? bpf_map_lookup_elem(inner, &slice->cpu) : NULL;
	}
	return true;
}

/* Events that the kernel counts after the tracepoint of this switch: bits as in slice. */
#define SAME_CGROUP  (1 << SWITCH_EVENT_ALL)
#define OTHER_CGROUP (1 << SWITCH_EVENT_ALL | 1 << SWITCH_EVENT_CGROUP)

/*
 * Charge the running slice of a kind, with its snapshot, to its scope set and begin one of the scope set
 * @new. @at_switch is a constant: only programs at switches have the code that is quick there. With a
 * struct in place of these parameters, the compiler makes longer programs.
 */
static __always_inline void charge(struct cpu_state *state, struct event_reading *snapshot,
				   __u32 cpu, enum scope_set_kind kind, __u32 new, bool at_switch,
				   __u32 missing)
{
	struct slice slice = {
		.state = state,
		.cpu = cpu,
		.is_quick = at_switch && !(state->mode & MODE_CAREFUL),
		.snapshot = snapshot,
	};
	bool is_same;

	if (!find_sets(&slice, state->scope_set[kind], new, missing, &is_same))
		return;
	raise_seq(&state->seq);
	if (slice.block)
		end_events(&slice, slice.from->nr, at_switch);
	/* The scope set 0 has no events. */
	if (!is_same && !(__builtin_constant_p(new) && !new))
		begin_events(&slice, slice.to->nr, at_switch);
	state->scope_set[kind] = new;
	raise_seq(&state->seq);
}

/* The same for the running task. */
static __always_inline void charge_task(struct cpu_state *state, __u32 cpu, __u32 new,
					bool at_switch, __u32 missing)
{
	struct task_slice *own = bpf_map_lookup_elem(&task_slices, &cpu);

	if (own)
		charge(state, own->snapshot, cpu, SCOPE_SET_TASK, new, at_switch, missing);
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_SLICES_H
#define PERF_BPF_LEADER_SLICES_H

/*
 * Slices: the time in which a CPU runs one class. What the class's events counted in it is added to
 * the class's cells when it ends.
 */
#include "leader_cpu.bpf.h"

/* Classes of tasks. Written by user space under the lock, but for members. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct reg_class);
	__uint(max_entries, MAX_CLASSES);
} classes SEC(".maps");

/* Sets of events. Written by user space under the lock. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct reg_set);
	__uint(max_entries, MAX_SETS);
} sets SEC(".maps");

struct sum_chunk {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(__u32));	/* CPU */
	__uint(value_size, sizeof(struct sum_block));
	__uint(max_entries, 1);			/* nr_cpus, set before load */
};

/* Chunks of cells. Added by user space under the lock; their cells written by each CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32);
	__uint(max_entries, MAX_CHUNKS);
	__array(values, struct sum_chunk);
} sums SEC(".maps");

/*
 * Events that a switch reads without a call for each: as many as there are counters. The verifier
 * walks every one, at 2.5 million instructions of the first run.
 */
#define QUICK_EVENTS 6
#define QUICK_BEGINS 2		/* of slices that begin where other events were counted: rarer */

/* What the loops over events share. */
struct slice {
	struct cpu_state *state;
	struct event_reading *snapshot;	/* MAX_EVENTS of them */
	struct reg_set *from, *to;	/* the events of the slices that end and begin */
	struct reg_set *fresh[2];	/* events of which the task's snapshot was taken just now */
	struct sum_block *block;	/* the cells of the one that ends */
	__u32 cell;
	__u32 cpu;
	__u32 done;			/* events before the loop's first */
	bool is_quick;			/* a switch, and all events are our own */
	/* Bit per enum switch_event that has one: the kernel adds 1 to such events later */
	__u32 missing_from, missing_to;
	__u32 stride;			/* nr_cpus, nearer */
};

static __always_inline bool read_failed(struct slice *slice, struct event_reading *snap, __u32 slot,
					struct bpf_perf_event_value *now, bool is_quick)
{
	if (!(is_quick ? bpf_perf_event_read_value(&events,
						   (__u64)slot * slice->stride + slice->cpu, now,
						   sizeof(*now)) :
			 read_event(&slice->state->base[slot], slot, slice->cpu, now)))
		return false;
	snap->gen = 0;
	slice->state->failed_reads++;
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
 * One event of the slice that ends: what it counted is added to the class. A context switch that
 * the kernel has not counted yet belongs to the task that goes.
 */
static __always_inline long end_one(__u32 i, struct slice *slice, bool is_quick)
{
	__u32 slot = slice->from->slot[i] % MAX_EVENTS;
	struct event_reading *snap = &slice->snapshot[slot];
	__u32 gen = slice->state->base[slot].gen;
	struct bpf_perf_event_value now;

	/* Or the compiler works out the address of each field anew. */
	barrier_var(snap);
	if (read_failed(slice, snap, slot, &now, is_quick))
		return 0;
	/* A snapshot of another event, or of none: nothing is known of this slice. */
	if (snap->gen == gen) {
		if (slice->missing_from &&
		    now.enabled - snap->enabled_ns == now.running - snap->running_ns)
			now.counter += slice->missing_from >> slice->from->is_switches[i] & 1;
		add_difference(slice, i, snap, &now);
	}
	set_snapshot(snap, &now, gen);
	return 0;
}

/* One event of the slice that begins, unless it was read for the one that ended. */
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

static long end_event(__u32 i, struct slice *slice)
{
	return end_one((i + slice->done) % SET_EVENTS, slice, false);
}

static long begin_event(__u32 i, struct slice *slice)
{
	return begin_one((i + slice->done) % SET_EVENTS, slice, false);
}

/*
 * Loops that the verifier walks once, however long they are; a call per event. Switches do the
 * first few events without it: they are what costs.
 */
static __always_inline void end_events(struct slice *slice, __u32 nr)
{
	/* Unrolled: 6.1 refuses loops that are entered by falling into them. */
	if (slice->is_quick) {
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

static __always_inline void begin_events(struct slice *slice, __u32 nr)
{
	/* Unrolled: 6.1 refuses loops that are entered by falling into them. */
	if (slice->is_quick) {
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

/* Find the events and cells of two classes; @missing is what slice.missing_from may be. */
static __always_inline bool find_sets(struct slice *slice, __u32 old, __u32 new, __u32 missing,
				      bool *is_same)
{
	struct reg_class *from = bpf_map_lookup_elem(&classes, &old);
	struct reg_class *to = bpf_map_lookup_elem(&classes, &new);
	__u32 chunk;
	void *inner;

	if (!from || !to)
		return false;
	slice->from = bpf_map_lookup_elem(&sets, &from->set);
	slice->to = bpf_map_lookup_elem(&sets, &to->set);
	if (!slice->from || !slice->to)
		return false;
	*is_same = from->set == to->set;
	/* Not by a branch: the verifier would walk all that follows once for each way. */
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

/* What the kernel will count of a switch when the tracepoint is over: bits as in slice. */
#define SAME_CGROUP (1 << ALL_SWITCHES)
#define OTHER_CGROUP (1 << ALL_SWITCHES | 1 << CGROUP_SWITCHES)

/* Charge the running slice of a kind to the class @old and begin one of the class @new. */
static __always_inline void charge(struct cpu_state *state, __u32 cpu, enum class_kind kind,
				   __u32 old, __u32 new, bool at_switch, __u32 missing)
{
	struct slice slice = {
		.state = state, .cpu = cpu,
		.is_quick = at_switch && !(state->mode & MODE_FOREIGN),
		.snapshot = state->snapshot[kind],
	};
	bool is_same;

	if (!find_sets(&slice, old, new, missing, &is_same))
		return;
	raise_seq(&state->seq);
	if (slice.block)
		end_events(&slice, slice.from->nr);
	if (!is_same)
		begin_events(&slice, slice.to->nr);
	state->class[kind] = new;
	raise_seq(&state->seq);
}

#endif

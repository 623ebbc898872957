/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_SYNC_H
#define PERF_BPF_LEADER_SYNC_H

/* Part of leader.bpf.c, not a header: reading the rows of whole CPUs, in syncs and at hotplug. */
#include "leader_cpu.bpf.h"
#include "leader_registry.bpf.h"

/* The events of each CPU, as of its last sync. on_sync writes it, user space reads it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32); /* CPU */
	__type(value, struct cpu_readings);
	__uint(max_entries, 1); /* nr_cpus, set before load */
} readings SEC(".maps");

/* The CPU's row, and the slots to read. */
struct sync {
	struct cpu_state *state;
	struct cpu_readings *row;
	__u32 cpu;
	bool has_dead; /* an event is dead */
	__u64 gap_ns;  /* how long the CPU has been online again, if events may be dead */
	__u64 mask[MASK_WORDS];
};

/*
 * Read one event into the row. A failed read leaves the numbers as they were. A dead event gives
 * its last values; the time since the CPU came back is enabled time.
 */
static long sync_event(__u32 slot, struct sync *sync)
{
	struct event_reading *to;
	const struct event_base *base;
	struct bpf_perf_event_value now;
	__u64 enabled_ns;
	long err;

	slot %= MAX_EVENTS;
	if (!(sync->mask[slot / 64] >> slot % 64 & 1))
		return 0;
	to = &sync->row->event[slot];
	base = &sync->state->base[slot];
	err = read_any(base, slot, sync->cpu, &now);
	to->gen = base->gen;
	to->err = -err;
	if (err)
		return 0;
	to->counter = base->counter + now.counter;
	enabled_ns = base->enabled_ns + now.enabled;
	if (sync->gap_ns && base->epoch & 1 && is_stale(sync->state, base)) {
		sync->has_dead = true;
		enabled_ns += sync->gap_ns;
	}
	/* If the CPU went with dead events and came again, its new time begins at 0. */
	if (enabled_ns > to->enabled_ns)
		to->enabled_ns = enabled_ns;
	to->running_ns = base->running_ns + now.running;
	return 0;
}

/*
 * Read the events of the mask into the row, unless another program is at it: one on this CPU can
 * interrupt another. So only one of them makes the sequence count odd. Return: 1 when done.
 */
static __always_inline int read_row(struct sync *sync, __u64 nr_slots)
{
	if (*(volatile __u64 *)&sync->row->seq & 1) {
		sync->state->nested++;
		return 0;
	}
	raise_seq(&sync->row->seq);
	if (sync->state->mode & MODE_DEAD && sync->state->up_ns)
		sync->gap_ns = bpf_ktime_get_ns() - sync->state->up_ns;
	bpf_loop(nr_slots, sync_event, sync, 0);
	raise_seq(&sync->row->seq);
	return 1;
}

/*
 * Bring this CPU's row up to date. Never attached; only BPF_PROG_TEST_RUN runs it.
 *
 * The first four arguments are a mask of slots to read into the CPU's row; all are below the
 * fifth.
 *
 * Return: 1 when done; 0: another reading is under way. On the caller's own CPU a test run leaves
 * interrupts on, and another test run may come in the interrupt. (Newer kernels skip such an
 * execution and also report 0.)
 */
SEC("raw_tp")
int on_sync(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct sync sync = {
		.cpu = cpu,
		.row = bpf_map_lookup_elem(&readings, &cpu),
		.state = bpf_map_lookup_elem(&cpus, &cpu),
		.mask = {ctx->args[0], ctx->args[1], ctx->args[2], ctx->args[3]},
	};

	return sync.row && sync.state ? read_row(&sync, ctx->args[4]) : 0;
}

/* The last step is before the first task can run there. */
static void come(struct cpu_state *state, __u32 *cpu, bool is_last)
{
	state->is_leaving = 0;
	state->up_ns = is_last ? bpf_ktime_get_ns() : 0;
	__sync_fetch_and_or(&state->mode, MODE_DEAD | MODE_CAREFUL);
	wake_sessions(cpu);
}

/*
 * At one of the steps the kernel takes the events away. If another program is reading, it also
 * reads, and another step follows. A session that ends MODE_DEAD looks at the epoch after that.
 */
static void go(struct sync *sync)
{
	struct cpu_state *state = sync->state;
	bool is_first = !state->is_leaving;
	__u32 before;

	read_row(sync, MAX_EVENTS);
	state->is_leaving = 1;
	__sync_fetch_and_add(&state->epoch, 2);
	/* Use the old value: only then the kernel orders this behind the epoch. */
	before = __sync_fetch_and_or(&state->mode, MODE_DEAD | MODE_CAREFUL);
	if (is_first && before & MODE_DEAD && sync->has_dead)
		state->gap_ns += sync->gap_ns;
}

/* Tell the sessions that a CPU is there which no row is for. The kernel lets CPUs come one at a time. */
static __always_inline void note_late(__u32 *cpu)
{
	__u32 zero = 0;
	struct registry *reg = bpf_map_lookup_elem(&registry, &zero);

	if (!reg)
		return;
	*(volatile __u32 *)&reg->late_cpu = *cpu;
	__sync_fetch_and_add(&reg->nr_late, 1);
	wake_sessions(cpu);
}

/*
 * Run before each step of a CPU that comes or goes, on that CPU. While the CPU goes, read its
 * events. While it comes, wake the sessions, which open new events.
 */
SEC("raw_tp/cpuhp_enter")
int on_hotplug(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 cpu = bpf_get_smp_processor_id();
	int target = ctx->args[1], now = ctx->args[2];
	struct sync sync = {
		.cpu = cpu,
		.row = bpf_map_lookup_elem(&readings, &cpu),
		.state = bpf_map_lookup_elem(&cpus, &cpu),
		.mask = {-1, -1, -1, -1},
	};

	if (ctx->args[0] != cpu)
		return 0;
	if (!sync.row || !sync.state) {
		if (now + 1 == target)
			note_late(&cpu);
		return 0;
	}
	if (target < now)
		go(&sync);
	else
		come(sync.state, &cpu, now + 1 >= target);
	return 0;
}

#endif

// SPDX-License-Identifier: GPL-2.0
/*
 * The leader: the one set of BPF programs and maps of a machine that reads shared events for all
 * runs. Documentation/design.md has the whole picture; util/leader.c finds, loads and joins it.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "leader.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 nr_cpus = 1;

/* Runs and events. Key 0. Written by user space under the lock, read by everybody. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct registry);
	__uint(max_entries, 1);
} registry SEC(".maps");

/*
 * The perf events: slot * nr_cpus + CPU. Written by user space under the lock, read by on_sync.
 * They live as long as they are in here, whoever put them in.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(map_flags, BPF_F_PRESERVE_ELEMS);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, MAX_EVENTS);	/* times nr_cpus, set before load */
} events SEC(".maps");

/* The events of each CPU, as its last sync read them. Written by on_sync, read by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);			/* CPU */
	__type(value, struct cpu_readings);
	__uint(max_entries, 1);			/* nr_cpus, set before load */
} readings SEC(".maps");

/*
 * Where the events of an attr are, for leaders of other layouts. Frozen: key and value never
 * change. Written by user space under the lock, read by user space.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct attr_key);
	__type(value, struct shared_event);
	__uint(max_entries, MAX_EVENTS);
} perf_shared_v0 SEC(".maps");

/*
 * The program that the attr map's entries lead to, through its link. System-wide and per-CPU
 * runs need nothing done at a context switch, so it does nothing and the link hangs on a
 * tracepoint that practically never fires. It must not load from its context: a raw_tp program
 * that does cannot be test-run without one, as followers do.
 */
SEC("raw_tp")
int on_switch(void *ctx __attribute__((unused)))
{
	return 0;
}

/* Read one event into the CPU's row; the numbers of a failed read are never used. */
static __always_inline void read_slot(struct registry *reg, struct cpu_readings *row, __u32 slot,
				      __u32 cpu)
{
	struct event_reading *to = &row->event[slot];
	struct bpf_perf_event_value now;
	long err;

	err = bpf_perf_event_read_value(&events, (__u64)slot * nr_cpus + cpu, &now, sizeof(now));
	to->gen = reg->event[slot].gen;
	if (err) {
		to->err = -err;
		return;
	}
	to->counter = now.counter;
	to->enabled_ns = now.enabled;
	to->running_ns = now.running;
	to->err = 0;
}

/* An exchange, because it is a full barrier: readers are on other, weakly ordered CPUs. */
static __always_inline void publish_seq(struct cpu_readings *row)
{
	__sync_lock_test_and_set(&row->seq, row->seq + 1);
}

/*
 * Bring this CPU's row up to date for the slots in the mask that its four arguments are.
 * Never attached, run by BPF_PROG_TEST_RUN only. Returns 1 when done and 0 when it found another
 * run of itself under way: on the caller's own CPU a test run leaves interrupts on, and another
 * one may come in the interrupt. (Newer kernels skip such a run themselves and report 0, too.)
 */
SEC("raw_tp")
int on_sync(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 mask[MASK_WORDS] = { ctx->args[0], ctx->args[1], ctx->args[2], ctx->args[3] };
	__u32 cpu = bpf_get_smp_processor_id(), zero = 0;
	struct cpu_readings *row;
	struct registry *reg;

	row = bpf_map_lookup_elem(&readings, &cpu);
	reg = bpf_map_lookup_elem(&registry, &zero);
	if (!row || !reg)
		return 0;
	if (row->busy) {
		row->nested++;
		return 0;
	}
	/* Runs nest strictly on one CPU, so plain stores do; the compiler must keep their order. */
	*(volatile __u64 *)&row->busy = 1;
	barrier();
	publish_seq(row);
	for (int w = 0; w < MASK_WORDS; w++) {
		__u64 bits = mask[w];

		for (int b = 0; b < 64; b++) {
			if (bits >> b & 1)
				read_slot(reg, row, w * 64 + b, cpu);
		}
	}
	row->syncs++;
	publish_seq(row);
	barrier();
	*(volatile __u64 *)&row->busy = 0;
	return 1;
}

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_EVENTS_H
#define PERF_BPF_LEADER_EVENTS_H

/*
 * Part of leader.bpf.c and prog_pair.bpf.c, not a header: the maps of the shared events.
 *
 * Pairs of probes at BPF programs are loaded with the leader's maps in place of these.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "leader.h"

/*
 * The perf events, at slot * nr_cpus + CPU. User space writes it under the attr map's lock, or
 * for slots that the session has claimed. Programs read it.
 * The events live as long as they are in here, even if the session that put them in has ended.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(map_flags, BPF_F_PRESERVE_ELEMS);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, MAX_EVENTS); /* times nr_cpus, set before load */
} events SEC(".maps");

/*
 * Arrays of foreign events that programs read in place of our own, by slot. In here, the arrays
 * outlive their leaders. User space writes it as `events`.
 */
struct foreign_events {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(map_flags, BPF_F_PRESERVE_ELEMS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
	__uint(max_entries, 1);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__type(key, __u32); /* slot */
	__uint(max_entries, MAX_EVENTS);
	__array(values, struct foreign_events);
} foreign SEC(".maps");

/* The state of each CPU. The programs on that CPU write it, user space reads it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32); /* CPU */
	__type(value, struct cpu_state);
	__uint(max_entries, 1); /* nr_cpus, set before load */
} cpus SEC(".maps");

/* Use an exchange, because it is a full barrier: readers are on other, weakly ordered CPUs. */
static __always_inline void raise_seq(__u64 *seq)
{
	__sync_lock_test_and_set(seq, *seq + 1);
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_EVENTS_H
#define PERF_BPF_LEADER_EVENTS_H

/*
 * Where the shared events are, for all programs that read them: the leader's, and the pairs of probes
 * at BPF programs (prog_pair.bpf.c), which are loaded with the leader's maps in the place of these.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "leader.h"

/*
 * The perf events: slot * nr_cpus + CPU. Written by user space under the lock, read by programs.
 * They live as long as they are in here, whoever put them in.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(map_flags, BPF_F_PRESERVE_ELEMS);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, MAX_EVENTS);	/* times nr_cpus, set before load */
} events SEC(".maps");

/*
 * The arrays of other leaders whose events are read in place of our own, by slot. Kept in here, they
 * outlive those leaders. Written by user space under the lock.
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
	__type(key, __u32);			/* slot */
	__uint(max_entries, MAX_EVENTS);
	__array(values, struct foreign_events);
} foreign SEC(".maps");

/* What each CPU is doing. Written by the programs on that CPU, read by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);			/* CPU */
	__type(value, struct cpu_state);
	__uint(max_entries, 1);			/* nr_cpus, set before load */
} cpus SEC(".maps");

/* An exchange, because it is a full barrier: readers are on other, weakly ordered CPUs. */
static __always_inline void raise_seq(__u64 *seq)
{
	__sync_lock_test_and_set(seq, *seq + 1);
}

#endif

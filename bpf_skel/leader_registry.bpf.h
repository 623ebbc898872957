/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_REGISTRY_MAP_H
#define PERF_BPF_LEADER_REGISTRY_MAP_H

/* Part of the leader's objects and of sampling, not a header: the map of the registry. */
#include "leader_events.bpf.h"
#include "leader_registry.h"

/* Sessions, events, scopes. Key 0. User space writes it under the lock, all read it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct registry);
	__uint(max_entries, 1);
} registry SEC(".maps");

#endif

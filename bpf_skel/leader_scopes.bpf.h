/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_SCOPES_H
#define PERF_BPF_LEADER_SCOPES_H

/* Part of the leader's objects and of sampling, not a header: scope sets. */
#include "leader_events.bpf.h"
#include "leader_registry.bpf.h"

/*
 * Scope sets. User space writes it under the lock; programs write `members`, and on_mkdir
 * also `parent` and `set`.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct reg_scope_set);
	__uint(max_entries, MAX_SCOPE_SETS);
} scope_sets SEC(".maps");

#endif

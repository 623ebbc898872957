/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_WAKEUPS_H
#define PERF_BPF_LEADER_WAKEUPS_H

/* Part of the leader's objects and of sample.bpf.c, not a header: waking all sessions. */
#include "leader_events.bpf.h"

/*
 * Wakeups: a change needs the attention of a session. The contents mean nothing. Programs write
 * it, and the session that looks first empties it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1); /* a page, set before load */
} wakeups SEC(".maps");

static __always_inline void wake_sessions(__u32 *any)
{
	/* A full buffer has wakeups that no session has handled yet. */
	(void)bpf_ringbuf_output(&wakeups, any, sizeof(*any), BPF_RB_FORCE_WAKEUP);
}

#endif

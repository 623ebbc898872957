// SPDX-License-Identifier: GPL-2.0
/*
 * The leader: the BPF programs for reading shared events for all sessions.
 *
 * Documentation/design.md has the whole picture; util/bperf/leader_progs.c loads the programs, in
 * three objects. This one comes with the leader, and needs none of the kernel's types:
 *
 *	leader_events	maps of the shared events
 *	leader_cpu	a CPU: reading its events, changing its state, waking sessions
 *	leader_sync	the rows of whole CPUs; CPUs that come and go
 *	leader_serve	serving foreign followers
 *
 * The other two come with the first session of their kind: leader_tasks.bpf.c, leader_cgroups.bpf.c.
 */
#include "leader_serve.bpf.h"
#include "leader_sync.bpf.h"

char LICENSE[] SEC("license") = "GPL";

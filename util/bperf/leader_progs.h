/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_PROGS_H
#define PERF_BPERF_LEADER_PROGS_H

/* The leader's programs, in an object for each kind, loaded when the first session needs the kind. */

#include "bpf_skel/leader_registry.h"

#include <stdbool.h>

struct bperf_leader;

enum prog_kind {
	PROGS_ALWAYS = 1,     /* come with the leader */
	PROGS_TASKS = 2,      /* follow tasks; they come with one of the next two */
	PROGS_EXIT_EVENT = 4, /* sees tasks end, at a kprobe */
	PROGS_EXIT = 8,	      /* the same, at a tracepoint */
	PROGS_CGROUPS = 16,   /* follow cgroups */
};

/** leader_progs__is_optional() - whether a program comes later than the leader, or never */
bool leader_progs__is_optional(enum leader_prog prog);

/**
 * leader_progs__load() - hold the programs of a kind, and load those that are not there
 *
 * A new leader's programs are loaded under the lock of the attr map, others under the lock of tasks.
 * Return: 0, or -ENOEXEC after a message.
 */
int leader_progs__load(struct bperf_leader *leader, enum prog_kind kind);

/** leader_progs__hold() - hold those programs of a kind that are there; true if all are */
bool leader_progs__hold(struct bperf_leader *leader, enum prog_kind kind);

/** leader_progs__explain() - report an error of loading, with its likely reason */
void leader_progs__explain(int err);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_PROG_PROBES_H
#define PERF_BPERF_PROG_PROBES_H

/*
 * Loading and attaching the two probes of a pair. Both take milliseconds and need no
 * lock; util/bperf/prog_pair.c has the order in which they and the registry change.
 */

#include "bpf_skel/leader_registry.h"

struct bpf_prog;
struct bperf_leader;
struct prog_probes;

/**
 * prog_probes__load() - load the probes for a program
 * @leader: joined: they read its events
 * @out: on success, released by prog_probes__delete()
 *
 * Return: 0 or -errno.
 */
int prog_probes__load(struct bperf_leader *leader, const struct bpf_prog *target,
		      struct prog_probes **out);

/**
 * prog_probes__attach() - attach them
 * @ids: gets the ids of their links and maps
 *
 * Return: 0 or -errno: none is attached then.
 */
int prog_probes__attach(struct prog_probes *probes, struct reg_pair *ids);

/** prog_probes__delete() - let go of them; they go unless somebody holds them by their ids. NULL is ignored */
void prog_probes__delete(struct prog_probes *probes);

/** prog_probes__why_not() - why a program could not be counted: @err is of any function here; owned text */
char *prog_probes__why_not(const struct bpf_prog *target, int err);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_PROG_PAIR_H
#define PERF_UTIL_PROG_PAIR_H

/*
 * The pairs of probes at BPF programs. One pair counts a program for all runs; the registry names
 * its parts, each run that counts the program holds them, and with the last run it goes.
 */

#include "../bpf_skel/leader_registry.h"
#include "../bpf_skel/prog_pair.h"

#include <stdbool.h>

struct bpf_target;
struct leader;

struct prog_pair {
	int idx;			/* in registry.pair; -1: not joined */
	int link_fds[NR_PAIR_LINKS];
	int prog_fds[NR_PAIR_LINKS];	/* of the programs, for what the kernel says of them */
	struct prog_plan *plan;		/* mapped */
	struct prog_cpu *cpus;		/* mapped, by CPU */
	int nr_cpus;
};

/**
 * prog_pair__join() - have a program counted for this run, with all events the run has
 * @leader: joined, its attr map locked, the run's events added
 * @pair: filled on success; released by prog_pair__put()
 *
 * Return: 0; -ENOSPC: MAX_COLUMNS or MAX_PAIRS; other -errno. With a message in any case.
 */
int prog_pair__join(struct leader *leader, const struct bpf_target *target,
		    struct prog_pair *pair);

/** prog_pair__put() - let go of a pair, in any state; the registry is told by prog_pairs__leave() */
void prog_pair__put(struct prog_pair *pair);

/** prog_pairs__leave() - nothing is read for this run any more; the attr map must be locked */
void prog_pairs__leave(struct leader *leader, int run);

/** prog_pairs__repair() - the same for runs that died; pairs that went with them are forgotten */
void prog_pairs__repair(struct leader *leader);

/** prog_pair__column() - where the event of a slot is; -1: nowhere */
int prog_pair__column(const struct prog_pair *pair, int slot);

/** prog_pair__unseen() - executions that the kernel kept from us so far: they interrupted on_leave */
__u64 prog_pair__unseen(const struct prog_pair *pair);

/** prog_pair__copy() - what a CPU has counted, in one piece: all of it but the frame */
void prog_pair__copy(const struct prog_pair *pair, int cpu, struct prog_cpu *out);

/** prog_plan__is_wanted() - whether an event is counted in a program: for a run that counts both */
bool prog_plan__is_wanted(const struct registry *reg, const struct reg_pair *pair, __u32 slot);

/**
 * prog_plan__update() - make a plan have the events that its users have
 * @is_foreign: whether an event may be another leader's on some CPU
 * @is_new: set when an event got a column
 *
 * They are those of @reg whose users and the users of @pair have a run in common. Columns stay where
 * they are.
 * Return: 0, or -ENOSPC: MAX_COLUMNS; all others are in order then.
 */
int prog_plan__update(const struct registry *reg, const struct reg_pair *pair,
		      struct prog_plan *plan, bool (*is_foreign)(void *ctx, int slot), void *ctx,
		      bool *is_new);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_PROG_PAIR_H
#define PERF_BPERF_PROG_PAIR_H

/*
 * Joining, leaving and reading pairs of probes at BPF programs. One pair counts a program for all
 * sessions. The registry names its parts, each session that counts the program holds them, and with the
 * last session it goes.
 */

#include "bpf_skel/leader_registry.h"
#include "bpf_skel/prog_pair.h"

#include <stdbool.h>

struct bpf_prog;
struct bperf_leader;

struct prog_pair {
	int idx; /* in registry.pair; -1: not joined */
	int link_fds[NR_PAIR_LINKS];
	int prog_fds[NR_PAIR_LINKS]; /* of the programs, for what the kernel says of them */
	struct prog_columns *plan;   /* mapped */
	struct prog_cpu *cpus;	     /* mapped, by CPU */
	int nr_cpus;
};

/* One program to be counted by a session. */
struct pair_request {
	const struct bpf_prog *target;
	struct prog_pair *pair; /* filled on success; released by prog_pairs__leave() */
	int err;		/* set: 0, or -errno; -EAGAIN: another session works at the pair */
};

/**
 * prog_pairs__join() - have programs counted for this session, with all events the session has
 * @leader: joined, the session's events added. The caller must not lock its attr map: this takes
 *	its own lock for short commits, and loads and attaches probes between them.
 * @waits: whether to wait for sessions that work at the same pairs, as long as for locks (attr_map__expect())
 *
 * Each request has its own result. Return: 0, or -errno without a message: the lock was not to be had;
 * requests without error are joined all the same.
 */
int prog_pairs__join(struct bperf_leader *leader, struct pair_request *requests, int nr,
		     bool waits);

/** prog_pairs__why_not() - the reason for which a request failed, as a text; owned by the caller */
char *prog_pairs__why_not(const struct bperf_leader *leader, const struct pair_request *request);

/**
 * prog_pairs__leave() - stop reading events for this session in these programs
 *
 * As with prog_pairs__join() the caller must not hold the lock. The last session's probes are detached.
 * Return: 0, or -errno: the lock was not to be had; pairs whose idx is not -1 are still joined then.
 */
int prog_pairs__leave(struct bperf_leader *leader, struct prog_pair **pairs, int nr);

/** prog_pair__put() - let go of a pair, in any state, without a change of the registry */
void prog_pair__put(struct prog_pair *pair);

/** prog_pair__unseen() - executions that the kernel kept from us so far: they interrupted on_leave */
__u64 prog_pair__unseen(const struct prog_pair *pair);

/** prog_pair__runs() - executions that ended, on all CPUs, without a copy */
__u64 prog_pair__runs(const struct prog_pair *pair);

/**
 * prog_pair__copy() - what a CPU has counted, in one piece: all of it but the frame
 *
 * Return: false: the CPU is always in the middle of a change, and @out is as it was.
 */
bool prog_pair__copy(const struct prog_pair *pair, int cpu, struct prog_cpu *out);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_COUNTER_VERIFY_H
#define PERF_COUNTER_VERIFY_H

/*
 * Compare shared events with plain ones on this machine. Both count all CPUs at the same time:
 *
 *	shared  |-----------------------|	outer window
 *	plain     |-------------------|
 *	shared      |---------------|		inner window
 *
 * Events only ever count up, so on each CPU the plain count lies between the two shared ones,
 * whatever the machine does. The test is inconclusive only for an event that was multiplexed: its
 * count is an estimate.
 */

#include <signal.h>

struct evlist;
struct counter_plan;

/* The difference that is allowed, as a fraction of the count. */
#define VERIFY_TOLERANCE 0.001

enum verdict {
	VERDICT_AGREES,
	VERDICT_DIFFERS,
	VERDICT_MULTIPLEXED, /* inconclusive */
	VERDICT_OFFLINE,     /* inconclusive: a CPU went or came meanwhile */
	VERDICT_UNSUPPORTED,
};

/* Sums over all CPUs, in units of the event. */
struct verified {
	enum verdict verdict;
	unsigned long long plain;
	unsigned long long inner, outer;
	int cpu; /* of VERDICT_DIFFERS: the first where it did */
};

/**
 * verify() - count for a while, both ways
 * @plan: of both; the first half of its evlist is counted plainly, the second, the same events in the
 *	same order, shared
 * @ms: how long
 * @signal: not 0 ends the wait
 * @results: one for each event
 *
 * Return: 0, or -errno after a message; -EINTR: a signal came.
 */
int verify(struct counter_plan *plan, unsigned int ms, const volatile sig_atomic_t *signal,
	   struct verified *results);

#endif

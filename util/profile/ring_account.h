/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_RING_ACCOUNT_H
#define PERF_PROFILE_RING_ACCOUNT_H

/* The part of a count that no sample of a ring buffer stands for, by reasons. */

#include "util/sample/sample_types.h"

struct evsel;

/* An event of this session alone. */
struct ring_tally {
	const struct evsel *evsel;
	uint64_t period;   /* 0: the kernel adapts it */
	uint64_t nr_begun; /* periods that can be under way: of each CPU, task or cgroup one */
	uint64_t stood_ns; /* a clock ran so long without counting */
	uint64_t idle_ns;  /* the CPUs of a clock were idle for so long; 0: unknown, or wanted */
	uint64_t step_ns;  /* it may be so much longer */
	bool hides_modes;  /* the kernel refuses to sample the modes that a clock excludes */
	bool has_prog;	   /* a program of the user's decides about each sample */
};

/**
 * ring_account__split() - fill in `unseen`, `refused`, `thinned` and the weights of losses
 * @account: has everything else, with the numbers of lost records and of times that the event was throttled
 */
void ring_account__split(const struct ring_tally *tally, struct sample_account *account);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SAMPLE_SAMPLE_SLEEPERS_H
#define PERF_SAMPLE_SAMPLE_SLEEPERS_H

/*
 * Sessions that stopped collecting, as when their process is stopped. Their tables are full, so others do not have to
 * keep up their rates.
 *
 * A session writes a number that grows with each collection. The others look at these numbers once a second. One that
 * stays the same for SLEEPER_LOOKS looks is a sleeper, until its session collects again.
 */

#include "bpf_skel/sample.h"

#include <stdint.h>

/* Looks, not seconds: all sessions stand still together if the machine does. */
#define SLEEPER_LOOKS 5

/* The others, as a session saw them last. */
struct sample_sleepers {
	struct {
		uint32_t token, turns;
		int looks; /* at which both were the same */
	} seen[MAX_SAMPLERS];
};

/** sample_sleepers__find() - look, and note those that sleep now; at most once a second */
void sample_sleepers__find(struct sample_sleepers *sleepers, struct sample_plan *plan);

/** sample_sleepers__wake() - a session collects. Events may be stale then */
void sample_sleepers__wake(struct sample_plan *plan, int sampler);

#endif

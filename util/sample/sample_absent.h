/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SAMPLE_SAMPLE_ABSENT_H
#define PERF_SAMPLE_SAMPLE_ABSENT_H

/* The events of a session that could not be opened again, as after the end of another session that sampled faster. */

#include <stdint.h>

struct sampler;

/**
 * sample_absent__note() - note on which CPUs an event is missing, and warn once
 * @slot: one of the session's
 * @err: of sample_slots__apply() in this holding of the lock; 0: the slot's events are all there
 */
void sample_absent__note(struct sampler *sampler, int slot, int err);

#endif

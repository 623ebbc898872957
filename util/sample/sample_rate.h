/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SAMPLE_SAMPLE_RATE_H
#define PERF_SAMPLE_SAMPLE_RATE_H

/* Rates of sampling: those that a session asks for, and those that a slot's events need. */

#include "bpf_skel/sample.h"
#include "util/sample/sample_types.h"

struct evsel;

/* How often an event samples for a session. */
struct sample_rate {
	enum sample_class class;
	uint64_t value; /* a period, or a frequency */
};

/**
 * sample_rate__choose() - the class and rate of an event
 * @rate: a frequency or a period, at least 1
 *
 * A frequency of cycles or of a clock is a fixed period: that of the highest clock. So a busy CPU takes
 * so many samples while it runs at that clock, and never more.
 * Return: 0, or -EINVAL after a message.
 */
int sample_rate__choose(const struct evsel *evsel, enum sample_rate_kind kind, uint64_t rate,
			struct sample_rate *out);

/** sample_rate__max() - the limit of frequencies, kernel.perf_event_max_sample_rate; 0: unknown */
uint64_t sample_rate__max(void);

/** sample_rate__needed() - what the event of a slot on a CPU must do for all its users; 0: no event */
uint64_t sample_rate__needed(const struct sample_plan *plan, int slot, int cpu);

/** sample_rate__is_clock() - whether an event's count is time */
bool sample_rate__is_clock(const struct evsel *evsel);

#endif

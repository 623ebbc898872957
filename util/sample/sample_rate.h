/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SAMPLE_SAMPLE_RATE_H
#define PERF_SAMPLE_SAMPLE_RATE_H

/* Rates of sampling: those that a session asks for, and those that a slot's events need. */

#include "bpf_skel/sample.h"
#include "util/sample/sample_types.h"

struct evsel;
struct perf_event_attr;

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

/** sample_rate__needed() - what the event of a slot on a CPU must do for all its takers that are awake; 0: no event */
uint64_t sample_rate__needed(const struct sample_plan *plan, int slot, int cpu);

/**
 * sample_rate__per_ms() - so many samples a busy CPU takes in a millisecond
 * @attr: of the event
 * @value: its period or frequency, by its class
 *
 * A fixed period that is no time is taken for one of cycles, at 4 GHz.
 */
double sample_rate__per_ms(enum sample_class class, const struct perf_event_attr *attr,
			   uint64_t value);

/**
 * sample_rate__suits() - whether a session may share the event of a slot: the kernel throttles both rates, or neither
 *
 * An event without a known rate may be as fast as cycles. The kernel lowers its limit by itself, so this holds for now
 * only. Equal rates always suit.
 */
bool sample_rate__suits(const struct sample_plan *plan, int slot, const struct sample_rate *rate);

/** sample_rate__words_per_ms() - the most that all sessions' stacks take of a CPU's store in a millisecond */
double sample_rate__words_per_ms(const struct sample_plan *plan);

#endif

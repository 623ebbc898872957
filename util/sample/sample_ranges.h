/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SAMPLE_SAMPLE_RANGES_H
#define PERF_SAMPLE_SAMPLE_RANGES_H

/* The ranges of addresses of all sampling sessions, as on_sample searches them. Pure logic over memory. */

#include "bpf_skel/sample.h"

#include <stdint.h>

struct address_ranges;

/**
 * sample_ranges__set() - give a session its ranges, in place of those that it had
 * @ranges: sorted; NULL: none
 *
 * Writes the half that is not in use and turns to it. No sample of the time before the last call may still
 * be under way, on any CPU. Return: 0, or -errno, which changes nothing; -ENOSPC: no room.
 */
int sample_ranges__set(struct sample_ranges *shared, int sampler,
		       const struct address_ranges *ranges);

/** sample_ranges__at() - the sessions that have an address in their ranges, a bit for each */
uint64_t sample_ranges__at(const struct sample_ranges *shared, uint64_t address);

#endif

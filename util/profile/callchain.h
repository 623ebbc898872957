/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_CALLCHAIN_H
#define PERF_PROFILE_CALLCHAIN_H

/* Callchains of the kernel: frames of the kernel and then those of user space, each behind a mark. */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct sample_entry;

/** callchain__is_mark() - whether a frame is none: a value that only marks have */
static inline bool callchain__is_mark(uint64_t frame)
{
	return frame >= PERF_CONTEXT_MAX;
}

/**
 * callchain__split() - find the frames of the kernel and those of user space
 * @ips: @nr frames and marks, as in PERF_RECORD_SAMPLE; borrowed by the entry
 * @entry: receives the parts that are there
 */
void callchain__split(const uint64_t *ips, uint64_t nr, struct sample_entry *entry);

#endif

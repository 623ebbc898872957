/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_SEQ_WAIT_H
#define PERF_BPERF_SEQ_WAIT_H

/* Waiting for the writer of a sequence count, for a bounded time. */

#include <stdbool.h>
#include <stdint.h>

/* Begins as all zero. */
struct seq_wait {
	unsigned int tries;
	uint64_t end_ns;
};

/** seq_wait__more() - whether to look at a sequence count again; yields now and then */
bool seq_wait__more(struct seq_wait *wait);

#endif

// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/seq_wait.h"

#include "util/lib/util.h"

#include <sched.h>

/*
 * How long a sequence count may stay odd. Its writer needs microseconds, unless the host of a virtual
 * machine takes the CPU away.
 */
#define SEQ_WAIT_NS (100 * NSEC_PER_MSEC)

bool seq_wait__more(struct seq_wait *wait)
{
	if (++wait->tries % 100)
		return true;
	sched_yield();
	if (!wait->end_ns)
		wait->end_ns = clock_ns() + SEQ_WAIT_NS;
	return clock_ns() < wait->end_ns;
}

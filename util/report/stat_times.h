/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_REPORT_STAT_TIMES_H
#define PERF_REPORT_STAT_TIMES_H

/* Times that the measuring loop takes beside the events. */

#include <stdint.h>

struct stat_times {
	uint64_t elapsed_ns;
	uint64_t user_ns, sys_ns; /* of the workload, from wait4 */
};

#endif

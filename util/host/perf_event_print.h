/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_PERF_EVENT_PRINT_H
#define PERF_HOST_PERF_EVENT_PRINT_H

/* The attr of a perf event in words, for -vv and --control. */

#include <linux/perf_event.h>
#include <sys/types.h>

/** perf_event__print_attr() - write ": type: T, ..." to stderr, with all members that are not 0 */
void perf_event__print_attr(const struct perf_event_attr *attr);

/** perf_event__dump() - write an attr and the result to stderr; @result: descriptor or -errno */
void perf_event__dump(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		      unsigned long flags, int result);

#endif

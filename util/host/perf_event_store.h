/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_PERF_EVENT_STORE_H
#define PERF_HOST_PERF_EVENT_STORE_H

/* Files with the attrs of opened events, for tests such as the kernel's tests/shell/attr. */

#include <linux/perf_event.h>
#include <sys/types.h>

/**
 * perf_event__store() - write how an event was opened to a file in $PERF_TEST_ATTR, if that is set
 * @fd: the descriptor of the event; the other parameters are those of the system call
 *
 * The file is event-TYPE-CONFIG-FD, in the format of Linux's perf. Failures are reported as errors.
 */
void perf_event__store(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		       unsigned long flags, int fd);

#endif

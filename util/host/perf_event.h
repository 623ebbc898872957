/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_PERF_EVENT_H
#define PERF_HOST_PERF_EVENT_H

/* The system call perf_event_open(), its limits, and events for all sessions. */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/types.h>

/**
 * perf_event__open() - the system call, close-on-exec
 * @attr: of attr->size bytes
 *
 * Raises the limit of open files if descriptors run out.
 * Return: a descriptor or -errno.
 */
int perf_event__open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		     unsigned long flags);

/* Descriptors for standard streams and for other code. */
#define PERF_EVENT_SPARE_FDS 16

/**
 * perf_event__reserve() - raise the limit of open files for that many perf events
 * @limit: receives what this process may raise it to by itself
 *
 * Return: 0; -EMFILE: not allowed; other -errno.
 */
int perf_event__reserve(unsigned long nr, unsigned long *limit);

/**
 * perf_event__open_shared() - open one CPU's event for all sessions: enabled, not inherited
 * @attr: what is counted; the function fills in how it is opened
 * @group_fd: of the group's leader on this CPU, or -1
 * @leads: other members follow; counting begins when perf_event__start_group() is called
 *
 * Return: a descriptor or -errno.
 */
int perf_event__open_shared(struct perf_event_attr *attr, int cpu, int group_fd, bool leads);

/**
 * perf_event__start_group() - enable a group whose leader was opened with @leads
 *
 * Call it after all members are open. The kernel does not schedule a software event that joins a
 * running group until the CPU's events are rescheduled (seen with 6.12, 6.18, 7.3).
 * Return: 0 or -errno.
 */
int perf_event__start_group(int fd);

/** perf_event__is_clock() - whether an event is cpu-clock or task-clock */
bool perf_event__is_clock(const struct perf_event_attr *attr);

/**
 * perf_event__sample_all_modes() - have a clock sample all modes and the idle task, whatever it excludes
 *
 * The kernel counts a clock in all modes. It only drops the samples of those that the event excludes, so nothing would
 * tell them from lost ones. Other events are left as they are.
 */
void perf_event__sample_all_modes(struct perf_event_attr *attr);

/**
 * perf_event__paranoid() - kernel.perf_event_paranoid, or -2 when it cannot be read
 */
int perf_event__paranoid(void);

/** perf_event__max_stack() - the frames of a stack that the kernel walks, kernel.perf_event_max_stack; at least 1 */
int perf_event__max_stack(void);

/**
 * perf_event__is_unsupported() - whether an errno means that this machine cannot count an event
 */
int perf_event__is_unsupported(int err);

#endif

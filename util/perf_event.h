/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_PERF_EVENT_H
#define PERF_UTIL_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/types.h>

struct attr_key;

/**
 * perf_event__open() - the system call, close-on-exec
 *
 * When descriptors run out the limit is raised as far as it goes.
 * Return: a descriptor or -errno.
 */
int perf_event__open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		     unsigned long flags);

/**
 * perf_event__reserve() - have the limit of open files allow for so many perf events
 * @limit: receives what this process may raise it to by itself
 *
 * Return: 0; -EMFILE: not allowed; other -errno.
 */
int perf_event__reserve(unsigned long nr, unsigned long *limit);

/**
 * perf_event__open_shared() - one CPU's event for everybody: counting at once, no inheritance
 * @group_fd: of the group's leader on this CPU, or -1
 * @leads: other members follow; counting begins when perf_event__start_group() is called
 *
 * Return: a descriptor or -errno.
 */
int perf_event__open_shared(const struct attr_key *key, int cpu, int group_fd, bool leads);

/**
 * perf_event__start_group() - have a group count whose leader was opened with @leads
 *
 * The kernel does not put a software event on that comes to a group that is on already, until
 * something else has the CPU's events scheduled again (seen with 6.12, 6.18, 7.3): so all members
 * come first. Return: 0 or -errno.
 */
int perf_event__start_group(int fd);

/**
 * perf_event__paranoid() - kernel.perf_event_paranoid, or -2 when it cannot be read
 */
int perf_event__paranoid(void);

/**
 * perf_event__is_unsupported() - whether an errno of open means "this machine cannot count that"
 */
int perf_event__is_unsupported(int err);

/** perf_event__print_attr() - write ": type: T, ..." to stderr, members that are not 0 */
void perf_event__print_attr(const struct perf_event_attr *attr);

/** perf_event__dump() - write an attr and what became of it to stderr; @result: descriptor or -errno */
void perf_event__dump(const struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
		      unsigned long flags, int result);

#endif

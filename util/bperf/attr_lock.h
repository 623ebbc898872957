/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_ATTR_LOCK_H
#define PERF_BPERF_ATTR_LOCK_H

/*
 * Taking the locks of the attr map, for a bounded time: their holders can be stopped at any moment.
 * util/bperf/attr_map.h has their protocol.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* A directory that can be locked. */
struct attr_lock {
	int fd; /* kept open; -1: not yet */
	bool is_held;
	sigset_t blocked; /* the signals that were blocked before it was taken */
};

/* How long a session may still wait for locks, and the consequence if that is too short. */
struct lock_wait {
	uint64_t left_ns;
	const char *otherwise; /* ends the warning; NULL: no warning */
};

/**
 * attr_lock__take() - take a lock
 * @lock: its directory is open
 * @path: of the directory, for the warning
 * @wait: how long to wait; reduced by the time waited. NULL: the lock is only tried
 *
 * While the lock is held, job-control signals are blocked and messages are kept back: neither a
 * Ctrl-Z nor a full pipe can stop the holder. SIGALRM is used meanwhile.
 * Return: 0; -EWOULDBLOCK: held, only tried; -ETIMEDOUT after a warning that names the holder;
 * -EINTR: SIGINT or SIGTERM is pending; other -errno after a message.
 */
int attr_lock__take(struct attr_lock *lock, const char *path, struct lock_wait *wait);

/** attr_lock__release() - give the lock back, if it is held, and write what was kept back */
void attr_lock__release(struct attr_lock *lock);

/**
 * attr_lock__try_protocol() - take the protocol's lock if it is free
 * @fd: of the attr map
 *
 * Any process can hold that lock for ever, so nothing waits for it. Others wait for us meanwhile, so it is
 * tried once.
 * Return: whether it is held by us now.
 */
bool attr_lock__try_protocol(int fd);

/** attr_lock__warn_protocol() - name its holder, once, if there is one still; reads files, so without locks */
void attr_lock__warn_protocol(int fd, const char *path);

#endif

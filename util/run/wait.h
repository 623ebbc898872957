/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_RUN_WAIT_H
#define PERF_RUN_WAIT_H

/* Waiting of a pass: times, signals and the ends of tasks. Times are of CLOCK_MONOTONIC, 0 is never. */

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct stat_pass;

/** earliest() - the earlier of two times, 0 if both are never */
uint64_t earliest(uint64_t a_ns, uint64_t b_ns);

/** is_due() - whether a time has come */
bool is_due(uint64_t at_ns);

/**
 * stat_pass__hold_signals() - hold back SIGINT, SIGTERM, SIGCHLD and the signals of @more
 * @more: more signals, or NULL
 * @before: receives the mask for stat_pass__wait() and stat_pass__release_signals()
 */
void stat_pass__hold_signals(const sigset_t *more, sigset_t *before);
void stat_pass__release_signals(const sigset_t *before);

/**
 * stat_pass__wait() - wait for a descriptor, a signal that is held back, or @at_ns, whichever comes first
 *
 * It returns earlier where the end of a task can only be polled for.
 */
void stat_pass__wait(struct stat_pass *pass, struct pollfd *fds, int nr, uint64_t at_ns,
		     const sigset_t *before);

/** stat_pass__is_told_to_end() - whether a signal ends the pass; a command that also got it ends first */
bool stat_pass__is_told_to_end(const struct stat_pass *pass);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_EXPLAIN_H
#define PERF_UTIL_EXPLAIN_H

/*
 * Where in the kernel system calls of this thread fail: the function that first returned the error
 * and how it was called, found by probes on the functions of perf_event_open and bpf.
 */

struct explain;

/**
 * explain__start() - follow the system calls of this thread from now on
 *
 * Takes a moment: some hundred functions get a probe. Return: released by explain__delete(); NULL
 * after one line that says why this kernel or user cannot have it.
 */
struct explain *explain__start(void);

/** explain__stop() - follow no longer; what was found stays */
void explain__stop(struct explain *explain);

/**
 * explain__take() - remember how the last call that failed with this error came to, as a matter's
 * @what: a number of the caller's: the position of the event; -1: anything else
 * @err: errno
 *
 * Nothing happens when @explain is NULL.
 */
void explain__take(struct explain *explain, int what, int err);

/** explain__print() - say on stderr what was taken for a matter; @name: of it, in the message */
void explain__print(const struct explain *explain, int what, const char *name);

void explain__delete(struct explain *explain);

#endif

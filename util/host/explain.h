/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_EXPLAIN_H
#define PERF_HOST_EXPLAIN_H

/*
 * The origin of an error in the kernel: the function that first returned it, and its call path.
 * Probes on the functions of perf_event_open() and bpf() find it.
 */

struct explain;

/**
 * explain__start() - trace the system calls of this thread from now on
 *
 * Takes a moment: some hundred functions get a probe. Return: released by explain__delete(); NULL
 * after a warning that this kernel or user cannot trace.
 */
struct explain *explain__start(void);

/** explain__stop() - stop tracing; results stay */
void explain__stop(struct explain *explain);

/**
 * explain__note() - file the call path of the last failure with this error
 * @what: number for explain__print(): the position of the event; -1: anything else
 * @err: errno
 *
 * Does nothing if @explain is NULL.
 */
void explain__note(struct explain *explain, int what, int err);

/** explain__print() - print the paths that were filed under a number; @name: for the message */
void explain__print(const struct explain *explain, int what, const char *name);

void explain__delete(struct explain *explain);

#endif

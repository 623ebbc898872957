/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_TRACEPOINT_H
#define PERF_HOST_TRACEPOINT_H

/* The tracepoints that tracefs lists below its events directory. */

#include <stdbool.h>
#include <stdint.h>

/**
 * tracepoint__id() - the kernel's number of a tracepoint, its attr.config
 *
 * Return: 0 or -errno; -ENOENT: no such tracepoint, or no tracefs; -EACCES: not permitted.
 */
int tracepoint__id(const char *subsys, const char *name, uint64_t *id);

typedef int (*tracepoint_fn)(void *ctx, const char *subsys, const char *name);

/**
 * tracepoint__for_each() - visit the tracepoints that match two shell globs, in directory order
 * @sorted: visit in the order of names instead
 * @fn: called for each; a result other than 0 ends the walk and is returned
 *
 * Return: 0, what @fn returned, or -errno when tracefs cannot be read.
 */
int tracepoint__for_each(const char *subsys, const char *name, bool sorted, tracepoint_fn fn,
			 void *ctx);

/** tracepoint__is_glob() - whether a name is a pattern */
bool tracepoint__is_glob(const char *name);

/**
 * tracepoint__nearest() - the tracepoint with the most similar name
 *
 * Return: "SUBSYS:NAME", owned by the caller; NULL when none is close.
 */
char *tracepoint__nearest(const char *subsys, const char *name);

#endif

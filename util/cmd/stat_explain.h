/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_STAT_EXPLAIN_H
#define PERF_CMD_STAT_EXPLAIN_H

/* The sink of --explain, which traces each refusal to its origin in the kernel. */

#include "util/counter/refusal_sink.h"

struct explain;

struct stat_explain {
	struct refusal_sink sink;
	struct explain *explain; /* of the current pass; NULL: none, or this user cannot trace */
};

/** stat_explain__init() - return the sink, without a trace yet; released by stat_explain__clear() */
struct refusal_sink *stat_explain__init(struct stat_explain *self);
void stat_explain__clear(struct stat_explain *self);

#endif

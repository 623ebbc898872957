/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SAMPLE_SAMPLE_COLLECT_H
#define PERF_SAMPLE_SAMPLE_COLLECT_H

/* The entries in the tables of a sampling session, taken out of them. */

#include "util/sample/sample_types.h"

struct sampler;

/** sample_collect__all() - empty the halves that are still, as sampler__collect(); 0 or what @expect or @fn returned */
int sample_collect__all(struct sampler *sampler, sample_fn expect, sample_fn fn, void *ctx);

/** sample_collect__begin() - note the time and the stores before a sync, for the next two */
void sample_collect__begin(struct sampler *sampler);

/** sample_collect__look_ms(), __is_due() - see sampler__look_ms() */
int sample_collect__look_ms(const struct sampler *sampler);
bool sample_collect__is_due(const struct sampler *sampler);

#endif

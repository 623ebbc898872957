/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_LEADER_SUMS_H
#define PERF_BPERF_LEADER_SUMS_H

/* The leader's chunks of cells and of carry cells, made and mapped when scope sets need them. */

struct bperf_leader;

/** leader_sums__provide() - give the leader's scope tables their chunks */
void leader_sums__provide(struct bperf_leader *leader);

/** leader_sums__unmap() - unmap all chunks */
void leader_sums__unmap(struct bperf_leader *leader);

#endif

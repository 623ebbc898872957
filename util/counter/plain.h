/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_COUNTER_PLAIN_H
#define PERF_COUNTER_PLAIN_H

/* Count with perf events of one's own: one per event, CPU and thread. */

struct counter;
struct counter_plan;

/** counter_plain__new() - plain perf events, for all targets but BPF programs; NULL with errno ENOMEM */
struct counter *counter_plain__new(const struct counter_plan *plan);

#endif

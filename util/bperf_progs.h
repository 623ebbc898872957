/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_BPERF_PROGS_H
#define PERF_UTIL_BPERF_PROGS_H

/* The BPF programs of one run, counted through shared events: its pairs of probes. */

#include "../bpf_skel/leader.h"

#include <stdbool.h>

struct bpf_targets;
struct bperf_progs;
struct leader;

/**
 * bperf_progs__new() - have the programs counted
 * @leader: joined, its attr map locked, the run's events added
 * @targets: borrowed
 * @slots: of the run's events, none twice; @names for messages, borrowed
 * @out: on success, released by bperf_progs__delete()
 *
 * Return: 0 or -errno after a message.
 */
int bperf_progs__new(struct leader *leader, const struct bpf_targets *targets, const int *slots,
		     const char *const *names, int nr, struct bperf_progs **out);

/** bperf_progs__delete() - NULL is ignored; the registry is told by leader__leave() */
void bperf_progs__delete(struct bperf_progs *progs);

/** bperf_progs__read() - copy what has been counted since the pairs exist */
void bperf_progs__read(struct bperf_progs *progs);

/** bperf_progs__event() - of one event (as in @slots), at the last read */
struct event_reading bperf_progs__event(const struct bperf_progs *progs, int target, int cpu,
					int event);

/**
 * bperf_progs__runs() - executions of a program on a CPU, at the last read
 * @exact: only those whose events are known
 */
__u64 bperf_progs__runs(const struct bperf_progs *progs, int target, int cpu, bool exact);

/** bperf_progs__begin(), __end() - a window, for what bperf_progs__say() says; after a read */
void bperf_progs__begin(struct bperf_progs *progs);
void bperf_progs__end(struct bperf_progs *progs);

/** bperf_progs__say() - which executions in the windows could not be counted as they should */
void bperf_progs__say(const struct bperf_progs *progs);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_COUNTER_BPERF_PROGS_H
#define PERF_COUNTER_BPERF_PROGS_H

/*
 * Keep the pairs of probes for one session's BPF programs. Programs come and go while it counts. new(),
 * follow(), give_up() and leave() take the attr map's lock: their caller must not hold it.
 */

#include "bpf_skel/leader.h"
#include "util/event/counts.h"

#include <stdbool.h>

struct bpf_prog_list;
struct bperf_progs;
struct bperf_leader;

/**
 * bperf_progs__new() - have the programs counted
 * @leader: joined, the session's events added
 * @targets: those that are WANTED; others' states change. Borrowed
 * @slots: of the session's events, none twice; @names for messages, borrowed
 * @out: on success, released by bperf_progs__delete()
 *
 * A program that cannot be counted is left out, unless it is named or the last one.
 * Return: 0 or -errno after a message.
 */
int bperf_progs__new(struct bperf_leader *leader, struct bpf_prog_list *targets, const int *slots,
		     const char *const *names, int nr, struct bperf_progs **out);

/**
 * bperf_progs__follow() - also count the programs that are WANTED by now
 * @is_enabled: a window is open: theirs begin
 *
 * Waits for no other session. Return: how many are counted now that were not, or -errno.
 */
int bperf_progs__follow(struct bperf_progs *progs, bool is_enabled);

/** bperf_progs__is_counted() - whether one of the targets has a pair of probes */
bool bperf_progs__is_counted(const struct bperf_progs *progs, int target);

/**
 * bperf_progs__find_idle() - a program that was replaced by a newer one and has not run for 10 s
 *
 * Return: which of the targets; -1: none.
 */
int bperf_progs__find_idle(struct bperf_progs *progs);

/**
 * bperf_progs__give_up() - let go of a program: unless others hold it, it is gone with that
 * @is_enabled: a window is open: the program's ends
 *
 * If the program still exists after a second, another process holds it. Then it is counted again.
 * Return: 0, or -errno: it is counted as before.
 */
int bperf_progs__give_up(struct bperf_progs *progs, int target, bool is_enabled);

/** bperf_progs__leave() - end the session's part in all pairs; what was read stays; NULL is ignored */
void bperf_progs__leave(struct bperf_progs *progs);

/** bperf_progs__delete() - NULL is ignored */
void bperf_progs__delete(struct bperf_progs *progs);

/** bperf_progs__read() - copy what has been counted since the pairs exist */
void bperf_progs__read(struct bperf_progs *progs);

/** bperf_progs__event() - of one event (as in @slots), at the last read; zeros if the leader cannot count the CPU */
struct counts_values bperf_progs__event(const struct bperf_progs *progs, int target, int cpu,
					int event);

/**
 * bperf_progs__runs() - executions of a program on a CPU, at the last read
 * @exact: only those whose events are known
 */
__u64 bperf_progs__runs(const struct bperf_progs *progs, int target, int cpu, bool exact);

/** bperf_progs__begin(), __end() - a window of what bperf_progs__report() reports; after a read */
void bperf_progs__begin(struct bperf_progs *progs);
void bperf_progs__end(struct bperf_progs *progs);

/** bperf_progs__report() - warn about executions in the windows that could not be counted exactly */
void bperf_progs__report(const struct bperf_progs *progs);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_COUNTER_BPERF_ROWS_H
#define PERF_COUNTER_BPERF_ROWS_H

/*
 * The rows of one session and their sums as of the last read. Each row is a scope of the leader: a set
 * of tasks, or a cgroup.
 */

#include "bpf_skel/leader.h"
#include "util/event/counts.h"

#include <stdbool.h>

struct bperf_leader;

struct bperf_rows {
	struct bperf_leader *leader;
	enum scope_set_kind kind;
	int *slots;	  /* the session's events, any order, none twice */
	int *is_switches; /* per slot, enum switch_event */
	int nr_events;
	int nr_rows;
	int *row_after; /* scope -> row, plus 1; 0: it is another session's. Memory only where used */
	int *scope_of; /* row -> scope, 0: none */
	int *rows;     /* work space: rows of the scope set that is read, MAX_SCOPES */
	struct counts_values *totals; /* row x event x CPU, as of the last read */
	__u64 failed; /* slices with an event that could not be read, as of the last read */
};

/**
 * bperf_rows__init() - rows without scopes
 * @slots: of the session's events, any order, none twice
 * @is_switches: per slot, enum switch_event
 *
 * Return: 0 or -ENOMEM; released by bperf_rows__clear() either way.
 */
int bperf_rows__init(struct bperf_rows *scopes, struct bperf_leader *leader,
		     enum scope_set_kind kind, const int *slots, const int *is_switches, int nr,
		     int nr_rows);
void bperf_rows__clear(struct bperf_rows *scopes);

/** bperf_rows__grow() - add rows without scopes; 0 or -ENOMEM */
int bperf_rows__grow(struct bperf_rows *scopes, int nr_rows);

/**
 * bperf_rows__add() - make the scope of a row; the attr map must be locked
 * @row: -1: no row; the scope only names the session's events
 * @cgroup: the kernel's number of the cgroup; 0: tasks
 *
 * Return: the scope, which counts nothing yet; -ENOSPC, -E2BIG.
 */
int bperf_rows__add(struct bperf_rows *scopes, int row, bool inherits, __u64 cgroup);

/** bperf_rows__explain() - print why a scope could not be made or assigned: any -errno but -E2BIG */
void bperf_rows__explain(const struct bperf_rows *scopes, int err);

/** bperf_rows__drop() - give up a row's scope; the next scope__remove(NO_SESSION) ends it */
void bperf_rows__drop(struct bperf_rows *scopes, int row);

/** bperf_rows__read() - sum up the scopes since they were made; 0 or -errno */
int bperf_rows__read(struct bperf_rows *scopes);

/** bperf_rows__on_cpu() - the sum of one event and row on one CPU, at the last read */
struct counts_values bperf_rows__on_cpu(const struct bperf_rows *scopes, int event, int row,
					int cpu);

/** bperf_rows__total() - the same sum on all CPUs */
struct counts_values bperf_rows__total(const struct bperf_rows *scopes, int event, int row);

#endif

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

struct scope_event {
	int slot;
	enum switch_event switches;
};

struct bperf_rows {
	struct bperf_leader *leader;
	enum scope_set_kind kind;
	struct scope_event *events; /* of the session, any order, no slot twice */
	int nr_events;
	int nr_rows;
	int *row_after; /* scope -> row, plus 1; 0: it is another session's. Memory only where used */
	int *scope_of; /* row -> scope, 0: none */
	int *rows;     /* work space: rows of the scope set that is read, MAX_SCOPES */
	bool *is_summed; /* per CPU: it is part of the sums of all CPUs; NULL: each CPU has a column */
	int nr_columns;		      /* all CPUs, or one for their sum */
	struct counts_values *totals; /* row x event x column, as of the last read */
	__u64 failed; /* slices with an event that could not be read, as of the last read */
};

/**
 * bperf_rows__init() - begin without rows
 * @events: of the session, any order, no slot twice
 *
 * Return: 0 or -ENOMEM; released by bperf_rows__clear() either way.
 */
int bperf_rows__init(struct bperf_rows *scopes, struct bperf_leader *leader,
		     enum scope_set_kind kind, const struct scope_event *events, int nr);
void bperf_rows__clear(struct bperf_rows *scopes);

/**
 * bperf_rows__sum_cpus() - keep only the sums of all CPUs; call it before bperf_rows__grow()
 * @is_summed: per CPU, which ones; owned by the rows from now on
 */
void bperf_rows__sum_cpus(struct bperf_rows *scopes, bool *is_summed);

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

/** bperf_rows__explain() - print why a scope could not be made or assigned, if it is not for want of room */
void bperf_rows__explain(const struct bperf_rows *scopes, int err);

/** bperf_rows__drop() - give up a row's scope; the next scope__remove(NO_SESSION) ends it */
void bperf_rows__drop(struct bperf_rows *scopes, int row);

/** bperf_rows__read() - sum up the scopes since they were made; 0 or -errno */
int bperf_rows__read(struct bperf_rows *scopes);

/**
 * bperf_rows__reading() - the sum of one event and row at the last read
 * @cpu: ignored if they are summed; one that the leader cannot count has zeros
 */
struct counts_values bperf_rows__reading(const struct bperf_rows *scopes, int event, int row,
					 int cpu);

#endif

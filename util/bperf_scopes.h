/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_BPERF_SCOPES_H
#define PERF_UTIL_BPERF_SCOPES_H

/*
 * The rows of one run, each of which is a scope of the leader: a set of tasks, or a cgroup. What
 * they have counted, as of the last read.
 */

#include "../bpf_skel/leader.h"
#include "counts.h"

#include <stdbool.h>

struct leader;

struct bperf_scopes {
	struct leader *leader;
	enum class_kind kind;
	int *slots;			/* the run's events, any order, none twice */
	int nr_events;
	int nr_rows;
	int *row_of;			/* scope -> row, -1: another run's */
	int *scope_of;			/* row -> scope, 0: none */
	struct sum *totals;		/* row x event x CPU, as of the last read */
};

/**
 * bperf_scopes__init() - rows without scopes
 * @slots: of the run's events, any order, none twice
 *
 * Return: 0 or -ENOMEM; released by bperf_scopes__clear() either way.
 */
int bperf_scopes__init(struct bperf_scopes *scopes, struct leader *leader, enum class_kind kind,
		       const int *slots, int nr, int nr_rows);
void bperf_scopes__clear(struct bperf_scopes *scopes);

/**
 * bperf_scopes__grow() - have more rows, without scopes; 0 or -ENOMEM
 */
int bperf_scopes__grow(struct bperf_scopes *scopes, int nr_rows);

/**
 * bperf_scopes__add() - make the scope of a row; the attr map must be locked
 * @row: -1: it counts nothing, only names the run's events
 * @is_switches: per slot, enum switch_event
 * @cgroup: the kernel's number of the cgroup; 0: tasks
 *
 * Return: the scope, which counts nothing yet; -ENOSPC, -E2BIG.
 */
int bperf_scopes__add(struct bperf_scopes *scopes, int row, const int *is_switches, bool inherits,
		      __u64 cgroup);

/** bperf_scopes__explain() - say why a row's scope could not be made, or not marked: -errno */
void bperf_scopes__explain(const struct bperf_scopes *scopes, int err);

/** bperf_scopes__drop() - the scope of a row is to end with leader_scopes__remove(NO_RUN) */
void bperf_scopes__drop(struct bperf_scopes *scopes, int row);

/** bperf_scopes__read() - what they have counted since they exist, up to now; 0 or -errno */
int bperf_scopes__read(struct bperf_scopes *scopes);

/** bperf_scopes__on_cpu() - of one event and row, on one CPU, at the last read */
struct counts_values bperf_scopes__on_cpu(const struct bperf_scopes *scopes, int event, int row,
					  int cpu);

/** bperf_scopes__total() - the same on all CPUs */
struct counts_values bperf_scopes__total(const struct bperf_scopes *scopes, int event, int row);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_BPERF_TASKS_H
#define PERF_UTIL_BPERF_TASKS_H

/*
 * The tasks of one run, counted through shared events: its scopes, and windows as differences of
 * what they have counted. One scope per thread with --per-thread, else one for all.
 */

#include "../bpf_skel/leader.h"
#include "counts.h"

#include <stdbool.h>

struct counter_plan;
struct leader;
struct bperf_tasks;

/**
 * bperf_tasks__new() - mark the tasks of a plan
 * @leader: joined, its attr map locked
 * @slots: of the run's events, any order, none twice
 * @is_switches: per slot, enum switch_event
 * @out: on success, released by bperf_tasks__delete()
 *
 * Return: 0 or -errno; after a message unless -ESRCH: the only task has ended.
 */
int bperf_tasks__new(struct leader *leader, const struct counter_plan *plan, const int *slots,
		     const int *is_switches, int nr, struct bperf_tasks **out);

/** bperf_tasks__delete() - NULL is ignored; the scopes end with leader__leave() */
void bperf_tasks__delete(struct bperf_tasks *tasks);

/** bperf_tasks__nr_scopes() - rows: threads with --per-thread, else 1 */
int bperf_tasks__nr_scopes(const struct bperf_tasks *tasks);

/**
 * bperf_tasks__read() - what the scopes have counted since they exist, up to now
 *
 * Return: 0 or -errno.
 */
int bperf_tasks__read(struct bperf_tasks *tasks);

/** bperf_tasks__total() - of one event (as in @slots) and scope, on all CPUs, at the last read */
struct counts_values bperf_tasks__total(const struct bperf_tasks *tasks, int event, int scope);

/** bperf_tasks__on_cpu() - the same on one CPU */
struct counts_values bperf_tasks__on_cpu(const struct bperf_tasks *tasks, int event, int scope,
					 int cpu);

#endif

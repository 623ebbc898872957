/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_BPERF_TASKS_H
#define PERF_UTIL_BPERF_TASKS_H

/*
 * The tasks of one run, counted through shared events: a row for each thread with --per-thread, else
 * one for all.
 */

struct bperf_scopes;
struct counter_plan;
struct leader;

/**
 * bperf_tasks__new() - mark the tasks of a plan
 * @leader: joined, its attr map locked
 * @slots: of the run's events, any order, none twice
 * @is_switches: per slot, enum switch_event
 * @out: on success their rows, released by bperf_tasks__delete()
 *
 * Return: 0 or -errno; after a message unless -ESRCH: the only task has ended.
 */
int bperf_tasks__new(struct leader *leader, const struct counter_plan *plan, const int *slots,
		     const int *is_switches, int nr, struct bperf_scopes **out);

/** bperf_tasks__delete() - NULL is ignored; the scopes end with leader__leave() */
void bperf_tasks__delete(struct bperf_scopes *rows);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_REPORT_STAT_H
#define PERF_REPORT_STAT_H

/* Statistics over intervals and repeats of one measurement. */

#include "util/report/stat_config.h"
#include "util/report/stat_times.h"

#include <stdint.h>

struct evlist;
struct metric;

/*
 * Turns the counts that the back ends read (evsel->counts) into rows and prints them. Knows neither the
 * back ends nor the measuring loop.
 */
struct stat;

/** stat__new() - NULL with errno set; @config and @evlist are borrowed */
struct stat *stat__new(const struct stat_config *config, struct evlist *evlist);
void stat__delete(struct stat *stat);

/**
 * stat__add_metric() - also print this metric, on the row of metric->row_evsel
 *
 * The metric's evsels must be in the evlist. Takes ownership of @metric, also on failure.
 * Return: 0 or -ENOMEM.
 */
int stat__add_metric(struct stat *stat, struct metric *metric);

/**
 * stat__interval() - print the differences to the previous interval
 * @ts_ns: time since counting began
 *
 * Reads evsel->counts and flushes the output. With interval_clear, first writes the sequence that clears
 * a terminal to stdout. Return: 0 or -ENOMEM.
 */
int stat__interval(struct stat *stat, uint64_t ts_ns);

/**
 * stat__add_repeat() - add the counts of a finished repeat (-r) to the statistics
 * @times: of this repeat
 *
 * Without -r, call it once. Call it before the events are closed or their thread maps freed. The next
 * interval starts from zero. With run_count 0 (forever) every repeat has its own statistics.
 * Return: 0 or -ENOMEM.
 */
int stat__add_repeat(struct stat *stat, const struct stat_times *times);

/**
 * stat__reset() - drop all intervals and repeats
 *
 * Metrics given by stat__add_metric() stay. Not needed between the repeats of -r.
 */
void stat__reset(struct stat *stat);

/**
 * stat__print() - print the final table: header, rows and footer
 *
 * Call it after stat__add_repeat(). With intervals it prints only the rows of --summary.
 * Return: 0 or -ENOMEM.
 */
int stat__print(struct stat *stat);

#endif

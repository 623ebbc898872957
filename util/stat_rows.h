/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_STAT_ROWS_H
#define PERF_UTIL_STAT_ROWS_H

/* The finished rows: everything is computed, the formats only print. */

#include "stat.h"

struct aggr_row;
struct metric;
struct metric_value;
struct stat_counts;

enum row_state {
	ROW_COUNTED,
	ROW_NOT_COUNTED,
	ROW_NOT_SUPPORTED,
};

struct stat_row {
	const char *name;		/* of the event; borrowed */
	const char *unit;		/* "" without; borrowed */
	const char *cgroup;		/* "" without; borrowed */
	const char *group_name;		/* heading of a metric group, has no value; else NULL */
	enum aggr_mode mode;		/* which prefix it has */
	const struct aggr_row *place;	/* borrowed; of no use with AGGR_GLOBAL */
	bool has_nr;			/* the number of counters follows the prefix */
	int nr;				/* counters summed */
	enum row_state state;
	double value;			/* in units */
	bool is_integer;		/* no decimals */
	uint64_t ena, run;		/* ns */
	double variance_pct;		/* standard error of the mean; 0 without -r */
	struct metric_value *metrics;	/* owned */
	int nr_metrics;
};

/* A mean over the runs. */
struct stat_mean {
	double mean, error;		/* standard error of the mean */
};

/* One thing to print: an interval or the final table. */
struct stat_table {
	const struct stat_config *config;
	enum aggr_mode mode;
	struct stat_row *rows;		/* owned */
	int nr_rows, cap;
	bool has_cgroups;
	int unit_width;

	bool is_interval;
	uint64_t ts_ns;			/* of an interval */
	bool has_heading;		/* print column headings now */
	bool is_total;			/* comes after intervals */
	bool is_summary;		/* as --summary says; a field of CSV, for the time */
	bool nmi_hint;			/* a core event never counted and the NMI watchdog is on */

	/* footer */
	struct stat_mean elapsed_s;
	double user_s, sys_s;
	const double *runs_s;		/* elapsed time of each run; borrowed */
	int nr_runs;
};

/**
 * stat_table__fill() - make the rows
 * @table: config is set, all else zero or set for the footer
 * @metrics: what is printed on rows besides classic texts; @nr_metrics of them
 * @time_s: duration that the counts stand for
 *
 * The rows borrow from @sc and its evlist. Released by stat_table__clear(), on failure too.
 * Return: 0 or -ENOMEM.
 */
int stat_table__fill(struct stat_table *table, const struct stat_counts *sc,
		     struct metric *const *metrics, int nr_metrics, double time_s);
void stat_table__clear(struct stat_table *table);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_REPORT_METRIC_GRID_H
#define PERF_REPORT_METRIC_GRID_H

/*
 * Lines and columns of --metric-only. Lines may lack metrics, so the columns are collected from all lines
 * before anything is printed. A line that has several metrics with one text has as many columns of it.
 * Columns have the order of -M; on heterogeneous machines those of one kind of core come first.
 */

struct metric_value;
struct pmu;
struct stat_row;
struct stat_table;

/* The metrics of all rows of one place and cgroup. */
struct metric_line {
	const struct stat_row *row;	   /* the first of them: has the prefix and the cgroup */
	const struct metric_value **cells; /* by column; NULL: this line lacks the metric */
};

struct metric_column {
	char *text; /* the metric's, and its core PMU if the columns have several; owned */
	/* private */
	const struct metric_value *first; /* the first value of this column */
	int place;			  /* where it was found */
};

struct metric_grid {
	const struct stat_table *table;
	struct metric_line *lines;
	int nr_lines;
	struct metric_column *columns;
	int nr_columns;
};

/**
 * metric_grid__fill() - collect the lines and columns of a table
 * @grid: zeroed; borrows from @table
 *
 * Released by metric_grid__clear(), also on failure. Return: 0 or -ENOMEM.
 */
int metric_grid__fill(struct metric_grid *grid, const struct stat_table *table);
void metric_grid__clear(struct metric_grid *grid);

#endif

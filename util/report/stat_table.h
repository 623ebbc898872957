/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_REPORT_STAT_TABLE_H
#define PERF_REPORT_STAT_TABLE_H

/* Finished rows with all values computed, ready to print. */

#include "util/report/stat_config.h"

#include <stdbool.h>
#include <stdint.h>

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
	const char *name;   /* of the event; borrowed */
	const char *unit;   /* "" without; borrowed */
	const char *cgroup; /* "" without; borrowed */
	const char
		*group_name; /* of a metric group's heading, which has no value; otherwise NULL */
	enum aggr_mode mode; /* defines the prefix */
	const struct aggr_row *place; /* borrowed; not used with AGGR_GLOBAL */
	bool has_nr;		      /* the number of counters follows the prefix */
	int nr;			      /* number of counters in the sum */
	enum row_state state;
	double value;	 /* in units */
	bool is_integer; /* no decimals */
	uint64_t enabled_ns, running_ns;
	double variance_pct;	      /* standard error of the mean; 0 without -r */
	struct metric_value *metrics; /* owned */
	int nr_metrics;
};

/* A mean over the repeats of -r. */
struct stat_mean {
	double mean, error; /* standard error of the mean */
};

/* One thing to print: an interval or the final table. */
struct stat_table {
	const struct stat_config *config;
	enum aggr_mode mode;
	struct stat_row *rows; /* owned */
	int nr_rows;
	struct aggr_row *ports; /* of --iostat, in the order of the events; owned */
	int nr_ports;
	bool has_cgroups;
	int unit_width;

	bool is_interval;
	uint64_t ts_ns;	  /* of an interval */
	bool has_heading; /* print column headings */
	bool is_total;	  /* comes after intervals */
	bool is_summary;  /* of --summary: CSV has "summary" in place of the time */
	bool nmi_hint;	  /* a core event never counted and the NMI watchdog is on */

	/* footer */
	struct stat_mean elapsed_s;
	double user_s, sys_s;
	const double *repeats_s; /* elapsed time of each repeat; borrowed */
	int nr_repeats;
};

/**
 * stat_table__fill() - make the rows
 * @table: has its config and the values of the footer; all else is zero
 * @metrics: to print beside the classic texts; @nr_metrics of them
 * @time_s: duration of the counts
 *
 * The rows borrow from @sc and its evlist. Released by stat_table__clear(), also on failure.
 * Return: 0 or -ENOMEM.
 */
int stat_table__fill(struct stat_table *table, const struct stat_counts *sc,
		     struct metric *const *metrics, int nr_metrics, double time_s);
void stat_table__clear(struct stat_table *table);

#endif

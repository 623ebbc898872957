// SPDX-License-Identifier: GPL-2.0
#include "display.h"
#include "aggr.h"
#include "metric.h"
#include "stat_rows.h"
#include "util.h"

#include <inttypes.h>
#include <stdio.h>

void display_csv__prefix(const struct stat_table *table, const struct stat_row *row)
{
	const char *sep = table->config->csv_sep;
	FILE *out = table->config->output;

	if (table->is_interval)
		fprintf(out, "%" PRIu64 ".%09" PRIu64 "%s", (uint64_t)(table->ts_ns / NSEC_PER_SEC),
			(uint64_t)(table->ts_ns % NSEC_PER_SEC), sep);
	else if (table->is_summary && !table->config->no_csv_summary)
		fprintf(out, "summary%s", sep);
	if (!aggr_style(row->mode)->name)
		return;
	fprintf(out, "%s%s%s", row->mode == AGGR_NONE ? "CPU" : "", row->place->name, sep);
	if (row->has_nr)
		fprintf(out, "%d%s", row->nr, sep);
}

static void print_seps(const struct stat_table *table, int nr)
{
	for (; nr > 0; nr--)
		fputs(table->config->csv_sep, table->config->output);
}

static void print_metric(const struct stat_table *table, const struct metric_value *metric)
{
	char number[64];

	display__metric_number(metric, number, sizeof(number));
	fprintf(table->config->output, "%s%s%s\n", number, table->config->csv_sep, metric->text);
}

/* A further metric: all fields of the event stay empty. */
static void print_continuation(const struct stat_table *table, const struct stat_row *row,
			       const struct metric_value *metric)
{
	display_csv__prefix(table, row);
	print_seps(table, 5 + table->has_cgroups + (table->config->run_count > 1));
	print_metric(table, metric);
}

/* The heading of a metric group has no event, and all its metrics follow below. */
static void print_group(const struct stat_table *table, const struct stat_row *row)
{
	const char *sep = table->config->csv_sep;
	int i;

	display_csv__prefix(table, row);
	fprintf(table->config->output, "%s%" PRIu64 "%s%.2f", sep, row->run, sep,
		display__share(row));
	print_seps(table, 4);
	fprintf(table->config->output, "%s\n", row->group_name);
	for (i = 0; i < row->nr_metrics; i++)
		print_continuation(table, row, &row->metrics[i]);
}

static void print_row(const struct stat_table *table, const struct stat_row *row)
{
	const char *sep = table->config->csv_sep;
	FILE *out = table->config->output;
	char value[64];
	int i;

	display_csv__prefix(table, row);
	display__value(row, value, sizeof(value));
	fprintf(out, "%s%s%s%s%s%s", value, sep, row->unit, sep, row->name, sep);
	if (table->has_cgroups)
		fprintf(out, "%s%s", row->cgroup, sep);
	if (table->config->run_count > 1)
		fprintf(out, "%.2f%%%s", row->variance_pct, sep);
	fprintf(out, "%" PRIu64 "%s%.2f%s", row->run, sep, display__share(row), sep);
	if (!row->nr_metrics)
		fprintf(out, "%s\n", sep);
	else
		print_metric(table, &row->metrics[0]);
	for (i = 1; i < row->nr_metrics; i++)
		print_continuation(table, row, &row->metrics[i]);
}

void display_csv__print(const struct stat_table *table)
{
	int i;

	for (i = 0; i < table->nr_rows; i++) {
		if (table->rows[i].group_name)
			print_group(table, &table->rows[i]);
		else
			print_row(table, &table->rows[i]);
	}
}

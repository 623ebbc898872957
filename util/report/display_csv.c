// SPDX-License-Identifier: GPL-2.0
/* CSV format, with the fields and their order of Linux's perf. */
#include "util/report/display_format.h"

#include "util/lib/printable.h"
#include "util/lib/util.h"
#include "util/metric/metric.h"
#include "util/report/aggr.h"
#include "util/report/metric_grid.h"
#include "util/report/stat_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_field(const struct stat_table *table, const char *text)
{
	printable__put_csv(table->config->env.output, text, table->config->options.csv_sep);
	fputs(table->config->options.csv_sep, table->config->env.output);
}

/* Linux's perf does not quote a metric's name for its blanks, even if they are the separator. */
static void print_metric_text(const struct stat_table *table, const char *text)
{
	const char *sep = table->config->options.csv_sep;

	printable__put_csv(table->config->env.output, text, strcmp(sep, " ") ? sep : "");
}

static void print_prefix(const struct stat_table *table, const struct stat_row *row)
{
	const char *sep = table->config->options.csv_sep;
	FILE *out = table->config->env.output;

	if (table->is_interval)
		fprintf(out, "%" PRIu64 ".%09" PRIu64 "%s", (uint64_t)(table->ts_ns / NSEC_PER_SEC),
			(uint64_t)(table->ts_ns % NSEC_PER_SEC), sep);
	else if (table->is_summary && !table->config->options.no_csv_summary)
		fprintf(out, "summary%s", sep);
	if (!aggr_style(row->mode)->name)
		return;
	if (row->mode == AGGR_NONE)
		fprintf(out, "CPU%s%s", row->place->name, sep);
	else
		print_field(table, row->place->name);
	if (row->has_nr)
		fprintf(out, "%d%s", row->nr, sep);
}

static void print_seps(const struct stat_table *table, int nr)
{
	for (; nr > 0; nr--)
		fputs(table->config->options.csv_sep, table->config->env.output);
}

static void print_last(const struct stat_table *table, const char *text)
{
	print_metric_text(table, text);
	fputc('\n', table->config->env.output);
}

static void print_metric(const struct stat_table *table, const struct metric_value *metric)
{
	char number[64];

	display_format__metric_number(metric, number, sizeof(number));
	fprintf(table->config->env.output, "%s%s", number, table->config->options.csv_sep);
	print_last(table, metric->text);
}

/* Print a further metric; the fields of the event stay empty. */
static void print_continuation(const struct stat_table *table, const struct stat_row *row,
			       const struct metric_value *metric)
{
	print_prefix(table, row);
	print_seps(table, 5 + table->has_cgroups + (table->config->options.run_count > 1));
	print_metric(table, metric);
}

/* The heading of a metric group has no event; its metrics follow on lines of their own. */
static void print_group(const struct stat_table *table, const struct stat_row *row)
{
	const char *sep = table->config->options.csv_sep;
	int i;

	print_prefix(table, row);
	fprintf(table->config->env.output, "%s%" PRIu64 "%s%.2f", sep, row->running_ns, sep,
		display_format__share(row));
	print_seps(table, 4);
	print_last(table, row->group_name);
	for (i = 0; i < row->nr_metrics; i++)
		print_continuation(table, row, &row->metrics[i]);
}

static void print_row(const struct stat_table *table, const struct stat_row *row)
{
	const char *sep = table->config->options.csv_sep;
	FILE *out = table->config->env.output;
	char value[64];
	int i;

	print_prefix(table, row);
	display_format__value(row, value, sizeof(value));
	fprintf(out, "%s%s", value, sep);
	print_field(table, row->unit);
	print_field(table, row->name);
	if (table->has_cgroups)
		print_field(table, row->cgroup);
	if (table->config->options.run_count > 1)
		fprintf(out, "%.2f%%%s", row->variance_pct, sep);
	fprintf(out, "%" PRIu64 "%s%.2f%s", row->running_ns, sep, display_format__share(row), sep);
	if (!row->nr_metrics)
		fprintf(out, "%s\n", sep);
	else
		print_metric(table, &row->metrics[0]);
	for (i = 1; i < row->nr_metrics; i++)
		print_continuation(table, row, &row->metrics[i]);
}

static void print(const struct stat_table *table)
{
	int i;

	for (i = 0; i < table->nr_rows; i++) {
		if (table->rows[i].group_name)
			print_group(table, &table->rows[i]);
		else
			print_row(table, &table->rows[i]);
	}
}

static void print_grid(const struct metric_grid *grid)
{
	const struct stat_table *table = grid->table;
	const struct aggr_style *style = aggr_style(table->mode);
	const char *sep = table->config->options.csv_sep;
	FILE *out = table->config->env.output;
	char number[64];
	int i, j;

	if (table->has_heading) {
		if (table->is_interval)
			fprintf(out, "time%s", sep);
		if (style->name)
			fprintf(out, "%s%s", style->name, sep);
		if (style->counted)
			fprintf(out, "ctrs%s", sep);
		if (table->has_cgroups)
			fprintf(out, "cgroup%s", sep);
		for (i = 0; i < grid->nr_columns; i++) {
			print_metric_text(table, grid->columns[i].text);
			fputs(sep, out);
		}
		fputc('\n', out);
	}
	for (i = 0; i < grid->nr_lines; i++) {
		print_prefix(table, grid->lines[i].row);
		if (table->has_cgroups)
			print_field(table, grid->lines[i].row->cgroup);
		for (j = 0; j < grid->nr_columns; j++) {
			display_format__metric_number(grid->lines[i].cells[j], number,
						      sizeof(number));
			fprintf(out, "%s%s", number, sep);
		}
		fputc('\n', out);
	}
}

const struct display_format display_csv = {
	.print = print,
	.print_grid = print_grid,
};

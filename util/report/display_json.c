// SPDX-License-Identifier: GPL-2.0
/* JSON format: one object a line. */
#include "util/report/display_format.h"

#include "util/lib/json_string.h"
#include "util/lib/util.h"
#include "util/metric/metric.h"
#include "util/report/aggr.h"
#include "util/report/metric_grid.h"
#include "util/report/stat_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void print_string(const struct stat_table *table, const char *text)
{
	json_string__print(table->config->env.output, text);
}

/*
 * Open the object and print the leading members.
 *
 * Return: the text to print before the next member, "" or ", ".
 */
static const char *print_prefix(const struct stat_table *table, const struct stat_row *row)
{
	const struct aggr_style *style = aggr_style(row->mode);
	FILE *out = table->config->env.output;

	fputc('{', out);
	if (table->is_interval)
		fprintf(out, "\"interval\" : %" PRIu64 ".%09" PRIu64,
			(uint64_t)(table->ts_ns / NSEC_PER_SEC),
			(uint64_t)(table->ts_ns % NSEC_PER_SEC));
	if (!style->name)
		return table->is_interval ? ", " : "";
	fprintf(out, "%s\"%s\" : ", table->is_interval ? ", " : "", style->name);
	print_string(table, row->place->name);
	if (row->has_nr)
		fprintf(out, ", \"counters\" : %d", row->nr);
	return ", ";
}

static void print_metric(const struct stat_table *table, const char *before,
			 const struct metric_value *metric)
{
	FILE *out = table->config->env.output;

	fprintf(out, "%s\"metric-value\" : \"%f\", \"metric-unit\" : ", before,
		isnan(metric->value) ? NAN : metric->value);
	print_string(table, metric->text);
	if (metric->threshold)
		fprintf(out, ", \"metric-threshold\" : \"%s\"", metric->threshold);
}

static void print_event(const struct stat_table *table, const struct stat_row *row)
{
	FILE *out = table->config->env.output;
	char words[64];

	fprintf(out, "\"counter-value\" : ");
	display_format__value(row, words, sizeof(words));
	if (row->state == ROW_COUNTED)
		fprintf(out, "\"%f\"", row->value);
	else
		print_string(table, words);
	fprintf(out, ", \"unit\" : ");
	print_string(table, row->unit);
	fprintf(out, ", \"event\" : ");
	print_string(table, row->name);
	if (table->has_cgroups) {
		fprintf(out, ", \"cgroup\" : ");
		print_string(table, row->cgroup);
	}
	if (table->config->options.run_count > 1)
		fprintf(out, ", \"variance\" : %.2f", row->variance_pct);
	fprintf(out, ", ");
}

static void print_row(const struct stat_table *table, const struct stat_row *row)
{
	FILE *out = table->config->env.output;
	int i = 0;

	fputs(print_prefix(table, row), out);
	if (!row->group_name)
		print_event(table, row);
	fprintf(out, "\"event-runtime\" : %" PRIu64 ", \"pcnt-running\" : %.2f", row->running_ns,
		display_format__share(row));
	if (row->group_name) {
		fprintf(out, ", \"metricgroup\" : ");
		print_string(table, row->group_name);
	} else if (row->nr_metrics) {
		print_metric(table, ", ", &row->metrics[i++]);
	}
	fprintf(out, "}\n");
	for (; i < row->nr_metrics; i++) {
		print_metric(table, print_prefix(table, row), &row->metrics[i]);
		fprintf(out, "}\n");
	}
}

static void print(const struct stat_table *table)
{
	int i;

	for (i = 0; i < table->nr_rows; i++)
		print_row(table, &table->rows[i]);
}

static void print_grid(const struct metric_grid *grid)
{
	const struct stat_table *table = grid->table;
	FILE *out = table->config->env.output;
	const char *before;
	char number[64];
	int i, j;

	for (i = 0; i < grid->nr_lines; i++) {
		before = print_prefix(table, grid->lines[i].row);
		if (table->has_cgroups) {
			fprintf(out, "%s\"cgroup\" : ", before);
			print_string(table, grid->lines[i].row->cgroup);
			before = ", ";
		}
		for (j = 0; j < grid->nr_columns; j++) {
			display_format__metric_number(grid->lines[i].cells[j], number,
						      sizeof(number));
			fputs(before, out);
			print_string(table, grid->columns[j].text);
			fprintf(out, " : \"%s\"", number[0] ? number : "none");
			before = ", ";
		}
		if (!grid->nr_columns)
			fprintf(out, "%s\"metric-value\" : \"none\"", before);
		fprintf(out, "}\n");
	}
}

const struct display_format display_json = {
	.print = print,
	.print_grid = print_grid,
};

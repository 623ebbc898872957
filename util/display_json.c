// SPDX-License-Identifier: GPL-2.0
#include "display.h"
#include "aggr.h"
#include "json_string.h"
#include "metric.h"
#include "stat_rows.h"
#include "util.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

void display_json__string(const struct stat_table *table, const char *text)
{
	json_string__print(table->config->output, text);
}

const char *display_json__prefix(const struct stat_table *table, const struct stat_row *row)
{
	const struct aggr_style *style = aggr_style(row->mode);
	FILE *out = table->config->output;

	fputc('{', out);
	if (table->is_interval)
		fprintf(out, "\"interval\" : %" PRIu64 ".%09" PRIu64,
			(uint64_t)(table->ts_ns / NSEC_PER_SEC),
			(uint64_t)(table->ts_ns % NSEC_PER_SEC));
	if (!style->name)
		return table->is_interval ? ", " : "";
	fprintf(out, "%s\"%s\" : ", table->is_interval ? ", " : "", style->name);
	display_json__string(table, row->place->name);
	if (row->has_nr)
		fprintf(out, ", \"counters\" : %d", row->nr);
	return ", ";
}

static void print_metric(const struct stat_table *table, const char *before,
			 const struct metric_value *metric)
{
	FILE *out = table->config->output;

	fprintf(out, "%s\"metric-value\" : \"%f\", \"metric-unit\" : ", before,
		isnan(metric->value) ? NAN : metric->value);
	display_json__string(table, metric->text);
	if (metric->threshold)
		fprintf(out, ", \"metric-threshold\" : \"%s\"", metric->threshold);
}

static void print_event(const struct stat_table *table, const struct stat_row *row)
{
	FILE *out = table->config->output;
	char words[64];

	fprintf(out, "\"counter-value\" : ");
	display__value(row, words, sizeof(words));
	if (row->state == ROW_COUNTED)
		fprintf(out, "\"%f\"", row->value);
	else
		display_json__string(table, words);
	fprintf(out, ", \"unit\" : ");
	display_json__string(table, row->unit);
	fprintf(out, ", \"event\" : ");
	display_json__string(table, row->name);
	if (table->has_cgroups) {
		fprintf(out, ", \"cgroup\" : ");
		display_json__string(table, row->cgroup);
	}
	if (table->config->run_count > 1)
		fprintf(out, ", \"variance\" : %.2f", row->variance_pct);
	fprintf(out, ", ");
}

static void print_row(const struct stat_table *table, const struct stat_row *row)
{
	FILE *out = table->config->output;
	int i = 0;

	fputs(display_json__prefix(table, row), out);
	if (!row->group_name)
		print_event(table, row);
	fprintf(out, "\"event-runtime\" : %" PRIu64 ", \"pcnt-running\" : %.2f", row->run,
		display__share(row));
	if (row->group_name) {
		fprintf(out, ", \"metricgroup\" : ");
		display_json__string(table, row->group_name);
	} else if (row->nr_metrics) {
		print_metric(table, ", ", &row->metrics[i++]);
	}
	fprintf(out, "}\n");
	for (; i < row->nr_metrics; i++) {
		print_metric(table, display_json__prefix(table, row), &row->metrics[i]);
		fprintf(out, "}\n");
	}
}

void display_json__print(const struct stat_table *table)
{
	int i;

	for (i = 0; i < table->nr_rows; i++)
		print_row(table, &table->rows[i]);
}

// SPDX-License-Identifier: GPL-2.0
#include "display.h"
#include "aggr.h"
#include "metric.h"
#include "stat_rows.h"
#include "util.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Length of the UTF-8 sequence at @s, 0 when there is none. */
static int utf8_len(const unsigned char *s)
{
	/* First byte, and the range of the second one: no overlong forms, no surrogates. */
	static const struct {
		unsigned char first, last, low, high;
		int len;
	} forms[] = {
		{ 0x01, 0x7f, 0x00, 0xff, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	size_t i;
	int j;

	for (i = 0; i < ARRAY_SIZE(forms); i++) {
		if (s[0] < forms[i].first || s[0] > forms[i].last)
			continue;
		if (forms[i].len > 1 && (s[1] < forms[i].low || s[1] > forms[i].high))
			return 0;
		for (j = 2; j < forms[i].len; j++) {
			if ((s[j] & 0xc0) != 0x80)
				return 0;
		}
		return forms[i].len;
	}
	return 0;
}

void display_json__string(const struct stat_table *table, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	FILE *out = table->config->output;
	int len;

	fputc('"', out);
	for (; *s; s += len ? len : 1) {
		len = utf8_len(s);
		if (!len)
			fputs("\\ufffd", out);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if (*s < 0x20 || *s == 0x7f)
			fprintf(out, "\\u%04x", *s);
		else
			fwrite(s, 1, len, out);
	}
	fputc('"', out);
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

// SPDX-License-Identifier: GPL-2.0
#include "display.h"
#include "metric.h"
#include "stat_rows.h"
#include "util.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int print_table(const struct stat_table *table)
{
	const struct stat_config *config = table->config;

	if (config->metric_only)
		return display_metric_only__print(table);
	if (config->json)
		display_json__print(table);
	else if (config->csv_sep)
		display_csv__print(table);
	else
		display_std__print(table);
	return 0;
}

int display__print(const struct stat_table *table)
{
	locale_t c_locale, previous;
	int err;

	if (!table->config->json && !table->config->csv_sep)
		return print_table(table);
	c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
	if (!c_locale)
		return -ENOMEM;
	previous = uselocale(c_locale);
	err = print_table(table);
	uselocale(previous);
	freelocale(c_locale);
	return err;
}

void display__metric_text(const struct metric_value *metric, char *buf, size_t size)
{
	/* The sign of NaN says nothing. */
	snprintf(buf, size, metric->format, isnan(metric->value) ? NAN : metric->value);
}

void display__metric_number(const struct metric_value *metric, char *buf, size_t size)
{
	char text[64];
	const char *start;

	display__metric_text(metric, text, sizeof(text));
	start = text + strspn(text, " ");
	snprintf(buf, size, "%.*s", (int)strspn(start, "-.0123456789"), start);
}

double display__share(const struct stat_row *row)
{
	if (row->run == row->ena || !row->ena)
		return 100;
	return (uint64_t)(100.0 * row->run / row->ena);
}

void display__value(const struct stat_row *row, char *buf, size_t size)
{
	static const char *const words[] = {
		[ROW_NOT_COUNTED] = "<not counted>",
		[ROW_NOT_SUPPORTED] = "<not supported>",
	};

	if (row->state != ROW_COUNTED)
		snprintf(buf, size, "%s", words[row->state]);
	else
		snprintf(buf, size, row->is_integer ? "%.0f" : "%.2f", row->value);
}

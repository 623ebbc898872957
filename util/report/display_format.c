// SPDX-License-Identifier: GPL-2.0
#include "util/report/display_format.h"

#include "util/metric/metric.h"
#include "util/report/stat_table.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void display_format__metric_text(const struct metric_value *metric, char *buf, size_t size)
{
	/* Print every NaN without a sign. */
	if (metric->is_uncounted)
		buf[0] = '\0';
	else
		snprintf(buf, size, metric->format, isnan(metric->value) ? NAN : metric->value);
}

void display_format__metric_number(const struct metric_value *metric, char *buf, size_t size)
{
	char text[64];
	const char *start;

	buf[0] = '\0';
	if (!metric)
		return;
	display_format__metric_text(metric, text, sizeof(text));
	start = text + strspn(text, " ");
	snprintf(buf, size, "%.*s", (int)strspn(start, "-.0123456789"), start);
}

double display_format__share(const struct stat_row *row)
{
	if (row->running_ns == row->enabled_ns || !row->enabled_ns)
		return 100;
	return (uint64_t)(100.0 * row->running_ns / row->enabled_ns);
}

void display_format__value(const struct stat_row *row, char *buf, size_t size)
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

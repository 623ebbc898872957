/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_REPORT_DISPLAY_FORMAT_H
#define PERF_REPORT_DISPLAY_FORMAT_H

/* Operations of an output format, and shared texts of values. */

#include <stdbool.h>
#include <stddef.h>

struct metric_grid;
struct metric_value;
struct stat_row;
struct stat_table;

struct display_format {
	bool is_localized; /* numbers follow the locale; otherwise they have a decimal point */
	void (*print)(const struct stat_table *table);
	void (*print_grid)(const struct metric_grid *grid); /* --metric-only */
};

extern const struct display_format display_text, display_csv, display_json;

/**
 * display_format__metric_text() - a metric's value as in text format
 *
 * "nan" if not computable, "" if an event of it was not counted.
 */
void display_format__metric_text(const struct metric_value *metric, char *buf, size_t size);

/**
 * display_format__metric_number() - only the digits of display_format__metric_text()
 * @metric: NULL: no metric
 *
 * The text is empty if the value is not computable or there is no metric.
 */
void display_format__metric_number(const struct metric_value *metric, char *buf, size_t size);

/** display_format__share() - running time in whole percent of enabled time; 100 if they are equal */
double display_format__share(const struct stat_row *row);

/** display_format__value() - a row's value without grouping of digits, or the words that replace it */
void display_format__value(const struct stat_row *row, char *buf, size_t size);

#endif

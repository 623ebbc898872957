/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_DISPLAY_H
#define PERF_UTIL_DISPLAY_H

/* Finished rows to text, CSV and JSON. Everything goes to config->output. */

#include <stddef.h>

struct metric_value;
struct stat_row;
struct stat_table;

/**
 * display__print() - print a table in the format its config asks for
 *
 * Standard format follows the locale; CSV and JSON numbers always have a decimal point.
 * Return: 0 or -ENOMEM.
 */
int display__print(const struct stat_table *table);

/** display_std__print() and so on: one format each; the locale is the caller's business */
void display_std__print(const struct stat_table *table);
void display_csv__print(const struct stat_table *table);
void display_json__print(const struct stat_table *table);

/** display_metric_only__print() - --metric-only in all three formats; 0 or -ENOMEM */
int display_metric_only__print(const struct stat_table *table);

/* Parts of the formats that --metric-only shares. */

/** display_std__header(), display_std__footer() - what surrounds the rows; nothing in intervals */
void display_std__header(const struct stat_table *table);
void display_std__footer(const struct stat_table *table);

/** display_std__prefix() - timestamp and aggregation id of a row */
void display_std__prefix(const struct stat_table *table, const struct stat_row *row);

/** display_std__prefix_heading() - "# time" and the id's name, as wide as the prefix */
void display_std__prefix_heading(const struct stat_table *table);

/** display_std__prefix_width() - of the aggregation id, in columns */
int display_std__prefix_width(const struct stat_table *table);

/** display_csv__prefix() - the leading fields, each with its separator */
void display_csv__prefix(const struct stat_table *table, const struct stat_row *row);

/**
 * display_json__prefix() - opens the object and prints the leading members
 *
 * Return: what the next member has to be preceded by, "" or ", ".
 */
const char *display_json__prefix(const struct stat_table *table, const struct stat_row *row);

/** display_json__string() - a string in quotes, escaped; bytes that are no UTF-8 are replaced */
void display_json__string(const struct stat_table *table, const char *text);

/** display__metric_text() - a metric's value as in standard format, "nan" when not computable */
void display__metric_text(const struct metric_value *metric, char *buf, size_t size);

/** display__metric_number() - its digits only; empty when not computable */
void display__metric_number(const struct metric_value *metric, char *buf, size_t size);

/** display__share() - running time in whole percent of enabled time; 100 when they are equal */
double display__share(const struct stat_row *row);

/** display__value() - a row's value without grouping, or the words that replace it */
void display__value(const struct stat_row *row, char *buf, size_t size);

#endif

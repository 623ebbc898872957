/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_REPORT_DISPLAY_H
#define PERF_REPORT_DISPLAY_H

/* Printing of finished rows as text, CSV or JSON, to config->env.output. */

struct stat_table;

/**
 * display__print() - print a table in the format its config asks for
 *
 * Numbers in text format follow the locale; CSV and JSON always have a decimal point.
 * Return: 0 or -ENOMEM.
 */
int display__print(const struct stat_table *table);

#endif

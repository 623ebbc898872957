// SPDX-License-Identifier: GPL-2.0
/* Text format, with aligned columns for people. */
#include "util/report/display_format.h"

#include "util/lib/printable.h"
#include "util/lib/program.h"
#include "util/lib/util.h"
#include "util/metric/metric.h"
#include "util/report/aggr.h"
#include "util/report/metric_grid.h"
#include "util/report/stat_table.h"
#include "util/target/target.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VALUE_WIDTH  18
#define NAME_WIDTH   32
#define CGROUP_WIDTH 16
#define METRIC_WIDTH 38
/* With --metric-only: */
#define GRID_COLUMN_WIDTH 20
#define GRID_CGROUP_WIDTH 17

static const char *const colors[] = {
	[METRIC_RED] = "\033[31m",
	[METRIC_MAGENTA] = "\033[35m",
	[METRIC_YELLOW] = "\033[33m",
	[METRIC_GREEN] = "\033[32m",
};

static bool is_workload_only(const struct stat_config *config)
{
	const struct target *target = config->env.target;

	if (!target || !target->argc)
		return false;
	return config->options.bpf_prog_list ||
	       (target__has_task(target) && !target__is_attached(target));
}

static void print_named(FILE *out, const char *before, const char *name)
{
	fputs(before, out);
	printable__put(out, 0, name);
	fputc('\'', out);
}

static void print_target(const struct stat_table *table)
{
	const struct stat_config *config = table->config;
	const struct target *target = config->env.target;
	FILE *out = config->env.output;
	int i;

	if (config->env.title)
		print_named(out, "'", config->env.title);
	else if (config->options.bpf_prog_list)
		print_named(out, "'BPF program(s) ", config->options.bpf_prog_list);
	else if (target && target->pid_list)
		print_named(out, "process id '", target->pid_list);
	else if (target && target->tid_list)
		print_named(out, "thread id '", target->tid_list);
	else if (target && target->cpu_list && !target->system_wide)
		print_named(out, "'CPU(s) ", target->cpu_list);
	else if (!target || target->system_wide || !target->argc)
		fprintf(out, "'system wide'");
	else
		for (i = 0; i < target->argc; i++) {
			fputs(i ? " " : "'", out);
			printable__put(out, 0, target->argv[i]);
			fputs(i + 1 < target->argc ? "" : "'", out);
		}
}

/* Intervals and the total after them have no header. */
static void print_header(const struct stat_table *table)
{
	FILE *out = table->config->env.output;

	if (table->is_interval || table->is_total)
		return;
	fprintf(out, "\n Performance counter stats for ");
	print_target(table);
	if (table->nr_repeats > 1)
		fprintf(out, " (%d runs)", table->nr_repeats);
	fprintf(out, ":\n\n");
}

static void print_variance(const struct stat_table *table, double pct)
{
	if (pct > 0)
		fprintf(table->config->env.output, "  ( +-%6.2f%% )", pct);
}

/* Print each repeat's time, its difference to the mean, and a bar of one sign per 5 %. */
static void print_repeats(const struct stat_table *table)
{
	FILE *out = table->config->env.output;
	double mean = table->elapsed_s.mean, repeat;
	char text[64];
	int i, bar, indent;

	/* Align headings with the first digit. */
	snprintf(text, sizeof(text), " %17.9f", mean);
	indent = strspn(text, " ");
	fprintf(out, "%*s# Table of individual measurements:\n", indent, "");
	for (i = 0; i < table->nr_repeats; i++) {
		repeat = table->repeats_s[i];
		bar = repeat > 0 ? 100 * (repeat - mean) / repeat : 0;
		fprintf(out, " %17.9f (%+.9f) ", repeat, repeat - mean);
		for (bar = 1 + (bar < 0 ? -bar : bar) / 5; bar; bar--)
			fputc('#', out);
		fputc('\n', out);
	}
	fprintf(out, "\n%*s# Final result:\n", indent, "");
}

static void print_nmi_hint(FILE *out)
{
	fprintf(out,
		"Events that were never counted may lack the counter that the NMI watchdog holds:\n"
		"\techo 0 > /proc/sys/kernel/nmi_watchdog\n"
		"\t%s stat ...\n"
		"\techo 1 > /proc/sys/kernel/nmi_watchdog\n",
		program__name());
}

static void print_footer(const struct stat_table *table)
{
	const struct stat_config *config = table->config;
	FILE *out = config->env.output;

	if (table->is_interval)
		return;
	if (!config->options.null_run)
		fputc('\n', out);
	if (table->nr_repeats > 1) {
		if (config->options.table)
			print_repeats(table);
		fprintf(out, " %17.9f +- %.9f seconds time elapsed", table->elapsed_s.mean,
			table->elapsed_s.error);
		if (table->elapsed_s.mean > 0)
			print_variance(table, 100 * table->elapsed_s.error / table->elapsed_s.mean);
	} else {
		fprintf(out, " %17.9f seconds time elapsed", table->elapsed_s.mean);
		if (is_workload_only(config))
			fprintf(out, "\n\n %17.9f seconds user\n %17.9f seconds sys\n",
				table->user_s, table->sys_s);
	}
	fprintf(out, "\n\n");
	if (table->nmi_hint)
		print_nmi_hint(out);
}

/* Return: columns of the aggregation id. */
static int prefix_width(const struct stat_table *table)
{
	const struct aggr_style *style = aggr_style(table->mode);

	if (!style->name)
		return 0;
	return style->width + (style->counted ? 6 : 1);
}

/* Print "# time" and the name of the id, as wide as the prefix of an interval. */
static void print_prefix_heading(const struct stat_table *table)
{
	const struct aggr_style *style = aggr_style(table->mode);
	FILE *out = table->config->env.output;

	fprintf(out, "#%15s ", "time");
	if (!style->name)
		return;
	if (table->mode == AGGR_THREAD)
		fprintf(out, "%16s-%-7s ", "comm", "pid");
	else if (style->counted)
		fprintf(out, "%-*s %4s ", style->width, style->name, "ctrs");
	else
		fprintf(out, "%-*s ", style->width, style->name);
}

/* Print the timestamp and aggregation id of a row. */
static void print_prefix(const struct stat_table *table, const struct stat_row *row)
{
	const struct aggr_style *style = aggr_style(row->mode);
	FILE *out = table->config->env.output;

	if (table->is_interval)
		fprintf(out, "%6" PRIu64 ".%09" PRIu64 " ", (uint64_t)(table->ts_ns / NSEC_PER_SEC),
			(uint64_t)(table->ts_ns % NSEC_PER_SEC));
	if (!style->name)
		return;
	if (row->mode == AGGR_THREAD) {
		printable__put(out, 16, row->place->comm);
		fprintf(out, "-%-7d ", row->place->tid);
	} else if (row->mode == AGGR_NONE) {
		fprintf(out, "CPU%-*s ", style->width - 3, row->place->name);
	} else {
		printable__put(out, -style->width, row->place->name);
		fputc(' ', out);
	}
	if (row->has_nr)
		fprintf(out, "%4d ", row->nr);
}

static void print_value(const struct stat_table *table, const struct stat_row *row)
{
	FILE *out = table->config->env.output;
	char text[64];

	if (row->state == ROW_COUNTED && table->config->options.big_num) {
		fprintf(out, row->is_integer ? "%'*.0f " : "%'*.2f ", VALUE_WIDTH, row->value);
		return;
	}
	display_format__value(row, text, sizeof(text));
	fprintf(out, "%*s ", VALUE_WIDTH, text);
}

static void print_metric(const struct stat_table *table, const struct metric_value *metric)
{
	const char *color = table->config->env.color ? colors[metric->color] : NULL;
	FILE *out = table->config->env.output;
	char text[64];
	int width;

	display_format__metric_text(metric, text, sizeof(text));
	/* Colours take no columns. */
	width = strlen(" # ") + strlen(text) + 1 + printable__len(metric->text);
	fprintf(out, " # %s%s%s ", color ? color : "", text, color ? "\033[m" : "");
	printable__put(out, 0, metric->text);
	if (width < METRIC_WIDTH)
		fprintf(out, "%*s", METRIC_WIDTH - width, "");
}

/* Begin the line of a further metric of an event. Linux's perf omits the cgroup column there. */
static void print_continuation(const struct stat_table *table, const struct stat_row *row)
{
	int blanks = VALUE_WIDTH + 1 + table->unit_width + 1 + NAME_WIDTH;

	if (row->mode == AGGR_NONE)
		blanks += 8;
	fputc('\n', table->config->env.output);
	print_prefix(table, row);
	fprintf(table->config->env.output, "%*s", blanks, "");
}

static void print_row(const struct stat_table *table, const struct stat_row *row)
{
	FILE *out = table->config->env.output;
	int i;

	print_prefix(table, row);
	if (row->group_name) {
		fputc(' ', out);
		printable__put(out, 20, row->group_name);
	} else {
		print_value(table, row);
		printable__put(out, -table->unit_width, row->unit);
		fputc(' ', out);
		printable__put(out, -NAME_WIDTH, row->name);
		if (table->has_cgroups) {
			fputc(' ', out);
			printable__put(out, -CGROUP_WIDTH, row->cgroup);
		}
	}
	if (!row->nr_metrics)
		fprintf(out, "%*s", METRIC_WIDTH, "");
	for (i = 0; i < row->nr_metrics; i++) {
		if (i)
			print_continuation(table, row);
		print_metric(table, &row->metrics[i]);
	}
	print_variance(table, row->variance_pct);
	if (row->running_ns != row->enabled_ns)
		fprintf(out, "  (%.2f%%)",
			row->enabled_ns ? 100.0 * row->running_ns / row->enabled_ns : 0);
	fputc('\n', out);
}

static void print(const struct stat_table *table)
{
	int i;

	if (table->has_heading) {
		print_prefix_heading(table);
		fprintf(table->config->env.output, "%*s %*s events\n", VALUE_WIDTH, "counts",
			table->unit_width, "unit");
	}
	print_header(table);
	for (i = 0; i < table->nr_rows; i++)
		print_row(table, &table->rows[i]);
	print_footer(table);
}

static void print_grid(const struct metric_grid *grid)
{
	const struct stat_table *table = grid->table;
	FILE *out = table->config->env.output;
	char text[64];
	int i, j, width;

	print_header(table);
	if (table->has_heading && table->is_interval)
		print_prefix_heading(table);
	else if (table->has_heading)
		fprintf(out, "%*s", prefix_width(table), "");
	if (table->has_heading) {
		fprintf(out, "%*s", table->has_cgroups ? GRID_CGROUP_WIDTH : 0, "");
		for (i = 0; i < grid->nr_columns; i++) {
			printable__put(out, GRID_COLUMN_WIDTH, grid->columns[i].text);
			fputc(' ', out);
		}
		fputc('\n', out);
	}
	for (i = 0; i < grid->nr_lines; i++) {
		print_prefix(table, grid->lines[i].row);
		if (table->has_cgroups) {
			fputc(' ', out);
			printable__put(out, 1 - GRID_CGROUP_WIDTH, grid->lines[i].row->cgroup);
		}
		for (j = 0; j < grid->nr_columns; j++) {
			text[0] = '\0';
			if (grid->lines[i].cells[j])
				display_format__metric_text(grid->lines[i].cells[j], text,
							    sizeof(text));
			width = printable__len(grid->columns[j].text);
			width = width > GRID_COLUMN_WIDTH ? width : GRID_COLUMN_WIDTH;
			/* A classic format ends in the blank before its text. */
			while (text[0] && text[strlen(text) - 1] == ' ')
				text[strlen(text) - 1] = '\0';
			fprintf(out, "%s%*s", j ? " " : "", width, text + strspn(text, " "));
		}
		fputc('\n', out);
	}
	print_footer(table);
}

const struct display_format display_text = {
	.is_localized = true,
	.print = print,
	.print_grid = print_grid,
};

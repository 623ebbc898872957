// SPDX-License-Identifier: GPL-2.0
#include "display.h"
#include "aggr.h"
#include "metric.h"
#include "stat_rows.h"
#include "target.h"
#include "util.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define VALUE_WIDTH 18
#define NAME_WIDTH 32
#define CGROUP_WIDTH 16
#define METRIC_WIDTH 38

static const char *const colors[] = {
	[METRIC_RED] = "\033[31m",
	[METRIC_MAGENTA] = "\033[35m",
	[METRIC_YELLOW] = "\033[33m",
	[METRIC_GREEN] = "\033[32m",
};

static bool is_workload_only(const struct stat_config *config)
{
	const struct target *target = config->target;

	if (!target || !target->argc)
		return false;
	return config->bpf_prog_list || (target__has_task(target) && !target__is_attached(target));
}

static void print_target(const struct stat_table *table)
{
	const struct stat_config *config = table->config;
	const struct target *target = config->target;
	FILE *out = config->output;
	int i;

	if (config->title)
		fprintf(out, "'%s'", config->title);
	else if (config->bpf_prog_list)
		fprintf(out, "'BPF program(s) %s'", config->bpf_prog_list);
	else if (target && target->pid_list)
		fprintf(out, "process id '%s'", target->pid_list);
	else if (target && target->tid_list)
		fprintf(out, "thread id '%s'", target->tid_list);
	else if (target && target->cpu_list && !target->system_wide)
		fprintf(out, "'CPU(s) %s'", target->cpu_list);
	else if (!target || target->system_wide || !target->argc)
		fprintf(out, "'system wide'");
	else
		for (i = 0; i < target->argc; i++)
			fprintf(out, "%s%s%s", i ? " " : "'", target->argv[i],
				i + 1 < target->argc ? "" : "'");
}

void display_std__header(const struct stat_table *table)
{
	FILE *out = table->config->output;

	if (table->is_interval || table->is_total)
		return;
	fprintf(out, "\n Performance counter stats for ");
	print_target(table);
	if (table->nr_runs > 1)
		fprintf(out, " (%d runs)", table->nr_runs);
	fprintf(out, ":\n\n");
}

static void print_variance(const struct stat_table *table, double pct)
{
	if (pct > 0)
		fprintf(table->config->output, "  ( +-%6.2f%% )", pct);
}

/* Each run's time, the difference to the mean, and a bar of one sign per 5 % of it. */
static void print_runs(const struct stat_table *table)
{
	FILE *out = table->config->output;
	double mean = table->elapsed_s.mean, run;
	char text[64];
	int i, bar, indent;

	/* Headings begin where the digits do. */
	snprintf(text, sizeof(text), " %17.9f", mean);
	indent = strspn(text, " ");
	fprintf(out, "%*s# Table of individual measurements:\n", indent, "");
	for (i = 0; i < table->nr_runs; i++) {
		run = table->runs_s[i];
		bar = run > 0 ? 100 * (run - mean) / run : 0;
		fprintf(out, " %17.9f (%+.9f) ", run, run - mean);
		for (bar = 1 + (bar < 0 ? -bar : bar) / 5; bar; bar--)
			fputc('#', out);
		fputc('\n', out);
	}
	fprintf(out, "\n%*s# Final result:\n", indent, "");
}

static void print_nmi_hint(FILE *out)
{
	fprintf(out, "Events that were never counted may lack the counter that the NMI watchdog holds:\n"
		     "\techo 0 > /proc/sys/kernel/nmi_watchdog\n"
		     "\tperf stat ...\n"
		     "\techo 1 > /proc/sys/kernel/nmi_watchdog\n");
}

void display_std__footer(const struct stat_table *table)
{
	const struct stat_config *config = table->config;
	FILE *out = config->output;

	if (table->is_interval)
		return;
	if (!config->null_run)
		fputc('\n', out);
	if (table->nr_runs > 1) {
		if (config->table)
			print_runs(table);
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

int display_std__prefix_width(const struct stat_table *table)
{
	const struct aggr_style *style = aggr_style(table->mode);

	if (!style->name)
		return 0;
	return style->width + (style->counted ? 6 : 1);
}

void display_std__prefix_heading(const struct stat_table *table)
{
	const struct aggr_style *style = aggr_style(table->mode);
	FILE *out = table->config->output;

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

void display_std__prefix(const struct stat_table *table, const struct stat_row *row)
{
	const struct aggr_style *style = aggr_style(row->mode);
	FILE *out = table->config->output;

	if (table->is_interval)
		fprintf(out, "%6" PRIu64 ".%09" PRIu64 " ", (uint64_t)(table->ts_ns / NSEC_PER_SEC),
			(uint64_t)(table->ts_ns % NSEC_PER_SEC));
	if (!style->name)
		return;
	if (row->mode == AGGR_THREAD)
		fprintf(out, "%16s-%-7d ", row->place->comm, row->place->tid);
	else if (row->mode == AGGR_NONE)
		fprintf(out, "CPU%-*s ", style->width - 3, row->place->name);
	else
		fprintf(out, "%-*s ", style->width, row->place->name);
	if (row->has_nr)
		fprintf(out, "%4d ", row->nr);
}

static void print_value(const struct stat_table *table, const struct stat_row *row)
{
	FILE *out = table->config->output;
	char text[64];

	if (row->state == ROW_COUNTED && table->config->big_num) {
		fprintf(out, row->is_integer ? "%'*.0f " : "%'*.2f ", VALUE_WIDTH, row->value);
		return;
	}
	display__value(row, text, sizeof(text));
	fprintf(out, "%*s ", VALUE_WIDTH, text);
}

static void print_metric(const struct stat_table *table, const struct metric_value *metric)
{
	const char *color = table->config->color ? colors[metric->color] : NULL;
	FILE *out = table->config->output;
	char text[64];
	int width;

	display__metric_text(metric, text, sizeof(text));
	/* Colours take no room on the screen. */
	width = strlen(" # ") + strlen(text) + 1 + strlen(metric->text);
	fprintf(out, " # %s%s%s %s", color ? color : "", text, color ? "\033[m" : "", metric->text);
	if (width < METRIC_WIDTH)
		fprintf(out, "%*s", METRIC_WIDTH - width, "");
}

/* A further metric of the same event, below the first; perf leaves no room for the cgroup there. */
static void print_continuation(const struct stat_table *table, const struct stat_row *row)
{
	int blanks = VALUE_WIDTH + 1 + table->unit_width + 1 + NAME_WIDTH;

	if (row->mode == AGGR_NONE)
		blanks += 8;
	fputc('\n', table->config->output);
	display_std__prefix(table, row);
	fprintf(table->config->output, "%*s", blanks, "");
}

static void print_row(const struct stat_table *table, const struct stat_row *row)
{
	FILE *out = table->config->output;
	int i;

	display_std__prefix(table, row);
	if (row->group_name) {
		fprintf(out, " %20s", row->group_name);
	} else {
		print_value(table, row);
		fprintf(out, "%-*s %-*s", table->unit_width, row->unit, NAME_WIDTH, row->name);
		if (table->has_cgroups)
			fprintf(out, " %-*s", CGROUP_WIDTH, row->cgroup);
	}
	if (!row->nr_metrics)
		fprintf(out, "%*s", METRIC_WIDTH, "");
	for (i = 0; i < row->nr_metrics; i++) {
		if (i)
			print_continuation(table, row);
		print_metric(table, &row->metrics[i]);
	}
	print_variance(table, row->variance_pct);
	if (row->run != row->ena)
		fprintf(out, "  (%.2f%%)", row->ena ? 100.0 * row->run / row->ena : 0);
	fputc('\n', out);
}

void display_std__print(const struct stat_table *table)
{
	int i;

	if (table->has_heading) {
		display_std__prefix_heading(table);
		fprintf(table->config->output, "%*s %*s events\n", VALUE_WIDTH, "counts",
			table->unit_width, "unit");
	}
	display_std__header(table);
	for (i = 0; i < table->nr_rows; i++)
		print_row(table, &table->rows[i]);
	display_std__footer(table);
}

// SPDX-License-Identifier: GPL-2.0
#include "display.h"
#include "aggr.h"
#include "metric.h"
#include "stat_rows.h"
#include "util.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COLUMN_WIDTH 20
#define CGROUP_WIDTH 17

/* A line: all rows of one place and cgroup, of which only the metrics are printed. */
struct line {
	const struct stat_row *row;		/* the first of them: prefix and cgroup */
	const struct metric_value **cells;	/* by column; NULL: this line lacks it */
};

/*
 * Lines may lack metrics, so columns are collected from all of them before anything is printed. A
 * line that has several metrics of one text has as many columns of it.
 */
struct grid {
	const struct stat_table *table;
	struct line *lines;
	int nr_lines;
	const char **columns;			/* metric texts */
	int nr_columns;
};

static bool same_line(const struct stat_row *a, const struct stat_row *b)
{
	return a->mode == b->mode && (a->mode == AGGR_GLOBAL || a->place == b->place) &&
	       !strcmp(a->cgroup, b->cgroup);
}

static struct line *find_line(struct grid *grid, const struct stat_row *row)
{
	struct line *line;
	int i;

	for (i = 0; i < grid->nr_lines; i++) {
		if (same_line(grid->lines[i].row, row))
			return &grid->lines[i];
	}
	line = &grid->lines[grid->nr_lines++];
	line->row = row;
	return line;
}

/* The first column of that text that this line has not filled yet. */
static int find_column(struct grid *grid, const struct line *line, const char *text)
{
	int i;

	for (i = 0; i < grid->nr_columns; i++) {
		if (!line->cells[i] && !strcmp(grid->columns[i], text))
			return i;
	}
	grid->columns[grid->nr_columns] = text;
	return grid->nr_columns++;
}

static int fill_grid(struct grid *grid)
{
	const struct stat_table *table = grid->table;
	const struct stat_row *row;
	struct line *line;
	int i, j, nr = 0;

	for (i = 0; i < table->nr_rows; i++)
		nr += table->rows[i].nr_metrics;
	grid->lines = calloc(table->nr_rows + 1, sizeof(*grid->lines));
	grid->columns = calloc(nr + 1, sizeof(const char *));
	if (!grid->lines || !grid->columns)
		return -ENOMEM;
	for (i = 0; i < table->nr_rows; i++) {
		row = &table->rows[i];
		line = find_line(grid, row);
		if (!line->cells)
			line->cells = calloc(nr + 1, sizeof(const struct metric_value *));
		if (!line->cells)
			return -ENOMEM;
		for (j = 0; j < row->nr_metrics; j++)
			line->cells[find_column(grid, line, row->metrics[j].text)] =
				&row->metrics[j];
	}
	return 0;
}

static void clear_grid(struct grid *grid)
{
	int i;

	for (i = 0; i < grid->nr_lines; i++)
		free(grid->lines[i].cells);
	free(grid->lines);
	free(grid->columns);
}

static void print_std(const struct grid *grid)
{
	const struct stat_table *table = grid->table;
	FILE *out = table->config->output;
	char text[64];
	int i, j, width;

	display_std__header(table);
	if (table->has_heading && table->is_interval)
		display_std__prefix_heading(table);
	else if (table->has_heading)
		fprintf(out, "%*s", display_std__prefix_width(table), "");
	if (table->has_heading) {
		fprintf(out, "%*s", table->has_cgroups ? CGROUP_WIDTH : 0, "");
		for (i = 0; i < grid->nr_columns; i++)
			fprintf(out, "%*s ", COLUMN_WIDTH, grid->columns[i]);
		fputc('\n', out);
	}
	for (i = 0; i < grid->nr_lines; i++) {
		display_std__prefix(table, grid->lines[i].row);
		if (table->has_cgroups)
			fprintf(out, " %-*s", CGROUP_WIDTH - 1, grid->lines[i].row->cgroup);
		for (j = 0; j < grid->nr_columns; j++) {
			text[0] = '\0';
			if (grid->lines[i].cells[j])
				display__metric_text(grid->lines[i].cells[j], text, sizeof(text));
			width = strlen(grid->columns[j]);
			width = width > COLUMN_WIDTH ? width : COLUMN_WIDTH;
			/* A classic format ends in a blank that belongs to its text. */
			while (text[0] && text[strlen(text) - 1] == ' ')
				text[strlen(text) - 1] = '\0';
			fprintf(out, "%s%*s", j ? " " : "", width, text + strspn(text, " "));
		}
		fputc('\n', out);
	}
	display_std__footer(table);
}

static void print_csv(const struct grid *grid)
{
	const struct stat_table *table = grid->table;
	const struct aggr_style *style = aggr_style(table->mode);
	const char *sep = table->config->csv_sep;
	FILE *out = table->config->output;
	char number[64];
	int i, j;

	if (table->has_heading) {
		if (table->is_interval)
			fprintf(out, "time%s", sep);
		if (style->name)
			fprintf(out, "%s%s", style->name, sep);
		if (style->counted)
			fprintf(out, "ctrs%s", sep);
		if (table->has_cgroups)
			fprintf(out, "cgroup%s", sep);
		for (i = 0; i < grid->nr_columns; i++)
			fprintf(out, "%s%s", grid->columns[i], sep);
		fputc('\n', out);
	}
	for (i = 0; i < grid->nr_lines; i++) {
		display_csv__prefix(table, grid->lines[i].row);
		if (table->has_cgroups)
			fprintf(out, "%s%s", grid->lines[i].row->cgroup, sep);
		for (j = 0; j < grid->nr_columns; j++) {
			number[0] = '\0';
			if (grid->lines[i].cells[j])
				display__metric_number(grid->lines[i].cells[j], number,
						       sizeof(number));
			fprintf(out, "%s%s", number, sep);
		}
		fputc('\n', out);
	}
}

static void print_json(const struct grid *grid)
{
	const struct stat_table *table = grid->table;
	FILE *out = table->config->output;
	const char *before;
	char number[64];
	int i, j;

	for (i = 0; i < grid->nr_lines; i++) {
		before = display_json__prefix(table, grid->lines[i].row);
		if (table->has_cgroups) {
			fprintf(out, "%s\"cgroup\" : ", before);
			display_json__string(table, grid->lines[i].row->cgroup);
			before = ", ";
		}
		for (j = 0; j < grid->nr_columns; j++) {
			number[0] = '\0';
			if (grid->lines[i].cells[j])
				display__metric_number(grid->lines[i].cells[j], number,
						       sizeof(number));
			fputs(before, out);
			display_json__string(table, grid->columns[j]);
			fprintf(out, " : \"%s\"", number[0] ? number : "none");
			before = ", ";
		}
		if (!grid->nr_columns)
			fprintf(out, "%s\"metric-value\" : \"none\"", before);
		fprintf(out, "}\n");
	}
}

int display_metric_only__print(const struct stat_table *table)
{
	struct grid grid = { .table = table };
	int err = fill_grid(&grid);

	if (!err && table->config->json)
		print_json(&grid);
	else if (!err && table->config->csv_sep)
		print_csv(&grid);
	else if (!err)
		print_std(&grid);
	clear_grid(&grid);
	return err;
}

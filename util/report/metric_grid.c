// SPDX-License-Identifier: GPL-2.0
#include "util/report/metric_grid.h"

#include "util/event/pmu.h"
#include "util/lib/util.h"
#include "util/metric/metric.h"
#include "util/report/aggr.h"
#include "util/report/stat_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool same_line(const struct stat_row *a, const struct stat_row *b)
{
	return a->mode == b->mode && (a->mode == AGGR_GLOBAL || a->place == b->place) &&
	       !strcmp(a->cgroup, b->cgroup);
}

static struct metric_line *find_line(struct metric_grid *grid, const struct stat_row *row)
{
	struct metric_line *line;
	int i;

	for (i = 0; i < grid->nr_lines; i++) {
		if (same_line(grid->lines[i].row, row))
			return &grid->lines[i];
	}
	line = &grid->lines[grid->nr_lines++];
	line->row = row;
	return line;
}

/* Return: the first column of this metric that is still empty in the line. */
static int find_column(struct metric_grid *grid, const struct metric_line *line,
		       const struct metric_value *value)
{
	struct metric_column *column;
	int i;

	for (i = 0; i < grid->nr_columns; i++) {
		column = &grid->columns[i];
		if (!line->cells[i] && column->first->core == value->core &&
		    !strcmp(column->first->text, value->text))
			return i;
	}
	grid->columns[i] = (struct metric_column){.first = value, .place = i};
	return grid->nr_columns++;
}

/* Metrics without a core PMU are printed with the first one. */
static int core_position(const struct metric_value *value)
{
	return value->core ? value->core->idx : 0;
}

static int compare_columns(const void *a, const void *b)
{
	const struct metric_column *one = a, *two = b;

	if (core_position(one->first) != core_position(two->first))
		return core_position(one->first) - core_position(two->first);
	if (one->first->rank != two->first->rank)
		return one->first->rank - two->first->rank;
	return one->place - two->place;
}

/* Move the cells of a line to where its columns are now. */
static int sort_line(const struct metric_grid *grid, struct metric_line *line)
{
	const struct metric_value **cells = calloc(grid->nr_columns + 1, sizeof(*cells));
	int i;

	if (!cells)
		return -ENOMEM;
	for (i = 0; i < grid->nr_columns; i++)
		cells[i] = line->cells[grid->columns[i].place];
	free(line->cells);
	line->cells = cells;
	return 0;
}

static bool has_several_cores(const struct metric_grid *grid)
{
	const struct pmu *core = NULL, *other;
	int i;

	for (i = 0; i < grid->nr_columns; i++) {
		other = grid->columns[i].first->core;
		if (core && other && core != other)
			return true;
		core = other ? other : core;
	}
	return false;
}

static int name_columns(const struct metric_grid *grid)
{
	bool names_core = has_several_cores(grid);
	int i;

	for (i = 0; i < grid->nr_columns; i++) {
		const struct metric_value *value = grid->columns[i].first;

		grid->columns[i].text =
			names_core && value->core ?
				xasprintf("%s [%s]", value->text, value->core->name) :
				strdup(value->text);
		if (!grid->columns[i].text)
			return -ENOMEM;
	}
	return 0;
}

int metric_grid__fill(struct metric_grid *grid, const struct stat_table *table)
{
	const struct stat_row *row;
	struct metric_line *line;
	int i, j, nr = 0, err = 0;

	grid->table = table;
	for (i = 0; i < table->nr_rows; i++)
		nr += table->rows[i].nr_metrics;
	grid->lines = calloc(table->nr_rows + 1, sizeof(*grid->lines));
	grid->columns = calloc(nr + 1, sizeof(*grid->columns));
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
			line->cells[find_column(grid, line, &row->metrics[j])] = &row->metrics[j];
	}
	qsort(grid->columns, grid->nr_columns, sizeof(*grid->columns), compare_columns);
	for (i = 0; i < grid->nr_lines && !err; i++)
		err = sort_line(grid, &grid->lines[i]);
	return err ? err : name_columns(grid);
}

void metric_grid__clear(struct metric_grid *grid)
{
	int i;

	for (i = 0; i < grid->nr_lines; i++)
		free(grid->lines[i].cells);
	for (i = 0; i < grid->nr_columns; i++)
		free(grid->columns[i].text);
	free(grid->lines);
	free(grid->columns);
}

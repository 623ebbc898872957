// SPDX-License-Identifier: GPL-2.0
#include "util/profile/print_rows.h"

#include "util/lib/json_string.h"
#include "util/lib/printable.h"
#include "util/lib/util.h"
#include "util/profile/frame_label.h"
#include "util/profile/rows.h"
#include "util/symbol/symbols.h"

#include <inttypes.h>
#include <string.h>

/* Branches that are lighter are left out, unless the user sets a limit. */
#define DEFAULT_BRANCH_PERCENT 0.5

/* A name and a number. */
#define VALUE_TEXT (SYMBOL_MAX_NAME + 32)

/* Return: the printed value, also of a sample without any frame, or a cgroup without a name. */
static const char *text_of(enum sort_key key, const struct row_value *value, char *buf, size_t size)
{
	if (value->is_missing)
		return "[unknown]";
	if (key == SORT_IP || key == SORT_PAGE)
		snprintf(buf, size, "%s+0x%" PRIx64, value->text, value->number);
	else if (key == SORT_SRCLINE)
		snprintf(buf, size, "%s:%" PRId64, value->text, value->number);
	else if (value->text)
		return value->text;
	else if (key == SORT_DATA)
		snprintf(buf, size, "0x%" PRIx64, value->number);
	else
		snprintf(buf, size, key == SORT_CGROUP ? "cgroup:%" PRId64 : "%" PRId64,
			 value->number);
	return buf;
}

static bool has_children(const struct profile_options *options)
{
	return options->view == VIEW_TREE && !options->no_children;
}

/* Without a column for functions or their files, nothing is known of a row's level. */
static bool is_hidden(const struct profile_options *options, const struct row *row)
{
	if (options->view != VIEW_LIST && !options->hides_in_trees)
		return false;
	for (int i = 0; i < options->sort.nr; i++) {
		enum sort_key key = options->sort.keys[i];

		if (sort_key__has_place(key))
			return row->values[i].is_kernel ? options->hide_kernel : options->hide_user;
	}
	return false;
}

static bool is_light(const struct print_context *context, const struct rows *rows,
		     const struct row *row)
{
	return rows__percent(rows, rows__sort_weight(row, context->options)) <
	       context->options->percent_limit;
}

static bool is_rare(const struct print_context *context, const struct row *row)
{
	return (has_children(context->options) ? row->all_nr : row->nr) <
	       context->options->min_samples;
}

static bool is_filtered(const struct print_context *context, const struct row *row)
{
	const struct profile_options *options = context->options;

	for (int i = 0; options->filter && i < options->sort.nr; i++) {
		char buf[VALUE_TEXT];

		if (strstr(text_of(options->sort.keys[i], &row->values[i], buf, sizeof(buf)),
			   options->filter))
			return false;
	}
	return options->filter;
}

static bool is_listed(const struct print_context *context, const struct rows *rows,
		      const struct row *row)
{
	return !is_hidden(context->options, row) && !is_light(context, rows, row) &&
	       !is_rare(context, row) && !is_filtered(context, row);
}

/* --- text --- */

/* Return: the end of the rows that are printed. */
static int end_of(const struct print_context *context, const struct rows *rows)
{
	int left = context->options->max_rows, end = 0;

	if (!left)
		return rows->nr;
	while (end < rows->nr && left)
		left -= is_listed(context, rows, &rows->rows[end++]);
	return end;
}

static int width_of(const struct print_context *context, const struct rows *rows, int end,
		    int column)
{
	enum sort_key key = context->options->sort.keys[column];
	int width = strlen(sort_key__title(key));

	for (int i = 0; i < end; i++) {
		char buf[VALUE_TEXT];
		int len;

		if (!is_listed(context, rows, &rows->rows[i]))
			continue;
		len = printable__len(text_of(key, &rows->rows[i].values[column], buf, sizeof(buf)));
		if (len > width)
			width = len;
	}
	return width;
}

static void print_heading(const struct print_context *context, const int *widths)
{
	const struct sort_keys *sort = &context->options->sort;

	fprintf(context->out, has_children(context->options) ? "# Children      Self  Samples" :
							       "# Overhead  Samples");
	for (int i = 0; i < sort->nr; i++) {
		bool is_last = i + 1 == sort->nr;
		/* Symbols and instructions have a mark of their level before them. */
		int width = widths[i] + (sort_key__has_level(sort->keys[i]) ? 4 : 0);

		fprintf(context->out, "  %-*s", is_last ? 0 : width,
			sort_key__title(sort->keys[i]));
	}
	fprintf(context->out, "\n");
}

static void print_value(const struct print_context *context, enum sort_key key,
			const struct row_value *value, int width)
{
	char buf[VALUE_TEXT];
	const char *text = text_of(key, value, buf, sizeof(buf));

	fprintf(context->out, "  ");
	if (sort_key__has_level(key))
		fprintf(context->out, "[%c] ", value->is_kernel ? 'k' : '.');
	/* Numbers are aligned at their end. */
	printable__put(context->out, sort_key__is_number(key) ? width : -width, text);
}

static void print_text_row(const struct print_context *context, const struct rows *rows,
			   const struct row *row, const int *widths)
{
	const struct sort_keys *sort = &context->options->sort;

	if (has_children(context->options))
		fprintf(context->out, "%9.2f%%", rows__percent(rows, row->all_weight));
	fprintf(context->out, "%*.2f%%  %7" PRIu64, 9, rows__percent(rows, row->weight), row->nr);
	for (int i = 0; i < sort->nr; i++)
		print_value(context, sort->keys[i], &row->values[i],
			    i + 1 == sort->nr && !sort_key__is_number(sort->keys[i]) ? 0 :
										       widths[i]);
	fprintf(context->out, "\n");
}

/* --- call trees as text --- */

/* Columns of lines to the left of a branch. */
#define MAX_LINES (3 * 256 + 16)

struct branch {
	const struct print_context *context;
	const struct rows *rows;
	const struct call_tree *tree;
	char lines[MAX_LINES];
	int len;
};

static const char *function_of(const struct print_context *context, const struct call_node *node,
			       char buf[FRAME_LABEL_MAX])
{
	return frame_label__text(context->options, context->symbols, node->place, buf);
}

static bool is_branch_listed(const struct branch *branch, const struct call_node *node)
{
	double limit = branch->context->options->percent_limit;

	return rows__percent(branch->rows, node->weight) >=
	       (limit > 0 ? limit : DEFAULT_BRANCH_PERCENT);
}

static int next_listed(const struct branch *branch, int node)
{
	/* The heaviest come first. */
	return node >= 0 && is_branch_listed(branch, &branch->tree->nodes[node]) ? node : -1;
}

static void print_line(const struct branch *branch, const char *mark, const struct call_node *node)
{
	char buf[FRAME_LABEL_MAX];

	fprintf(branch->context->out, "%*s%.*s%s", 12, "", branch->len, branch->lines, mark);
	printable__put(branch->context->out, 0, function_of(branch->context, node, buf));
	fprintf(branch->context->out, "\n");
}

/* Functions that only ever come one after the other share a branch. */
static int print_trunk(const struct branch *branch, int node)
{
	const struct call_node *nodes = branch->tree->nodes;
	int below = nodes[node].first;

	while (below >= 0 && nodes[below].next < 0 && nodes[below].weight == nodes[node].weight) {
		print_line(branch, "         ", &nodes[below]);
		node = below;
		below = nodes[node].first;
	}
	return node;
}

static void print_below(struct branch *branch, int node)
{
	const struct call_node *nodes = branch->tree->nodes;
	int below = next_listed(branch, nodes[node].first);

	while (below >= 0 && branch->len < MAX_LINES - 4) {
		int next = next_listed(branch, nodes[below].next);
		char mark[32];

		snprintf(mark, sizeof(mark), "%c--%5.2f%%--", next >= 0 ? '|' : ' ',
			 rows__percent(branch->rows, nodes[below].weight));
		print_line(branch, mark, &nodes[below]);
		memcpy(branch->lines + branch->len, next >= 0 ? "|  " : "   ", 3);
		branch->len += 3;
		print_below(branch, print_trunk(branch, below));
		branch->len -= 3;
		below = next;
	}
}

static void print_tree(const struct print_context *context, const struct rows *rows,
		       const struct row *row)
{
	struct branch branch = {.context = context, .rows = rows, .tree = &row->tree};

	if (row->tree.nr < 2 || next_listed(&branch, row->tree.nodes[0].first) < 0)
		return;
	print_below(&branch, 0);
	fprintf(context->out, "\n");
}

static void print_left_out(const struct print_context *context, const struct rows *rows, int end)
{
	const struct profile_options *options = context->options;
	int nr_hidden = 0, nr_light = 0, nr_more = 0;
	uint64_t hidden = 0;

	for (int i = 0; i < rows->nr; i++) {
		if (is_hidden(options, &rows->rows[i])) {
			nr_hidden++;
			hidden += rows->rows[i].weight;
		} else {
			nr_light += is_light(context, rows, &rows->rows[i]);
		}
		nr_more += i >= end && is_listed(context, rows, &rows->rows[i]);
	}
	if (nr_hidden)
		fprintf(context->out, "# %d row%s of %s hidden: %.2f%%\n", nr_hidden,
			nr_hidden == 1 ? "" : "s",
			options->hide_kernel ? "the kernel" : "user space",
			rows__percent(rows, hidden));
	if (nr_light)
		fprintf(context->out, "# %d row%s below %g %%\n", nr_light,
			nr_light == 1 ? "" : "s", options->percent_limit);
	if (nr_more)
		fprintf(context->out, "# %d more row%s\n", nr_more, nr_more == 1 ? "" : "s");
}

static void print_text(const struct print_context *context, const struct rows *rows)
{
	int widths[NR_SORT_KEYS], end = end_of(context, rows);

	for (int i = 0; i < context->options->sort.nr; i++)
		widths[i] = width_of(context, rows, end, i);
	print_heading(context, widths);
	for (int i = 0; i < end; i++) {
		if (!is_listed(context, rows, &rows->rows[i]))
			continue;
		print_text_row(context, rows, &rows->rows[i], widths);
		if (context->options->view == VIEW_TREE)
			print_tree(context, rows, &rows->rows[i]);
	}
	print_left_out(context, rows, end);
}

/* --- CSV --- */

static void print_csv_row(const struct print_context *context, const struct rows *rows,
			  const struct row *row)
{
	const struct profile_options *options = context->options;
	const char *sep = options->csv_sep;

	if (options->has_interval)
		fprintf(context->out, "%.9f%s", (double)context->time_ns / NSEC_PER_SEC, sep);
	printable__put_csv(context->out, context->event, sep);
	fprintf(context->out, "%s%.4f%s%" PRIu64 "%s%" PRIu64, sep,
		rows__percent(rows, row->weight), sep, row->nr, sep, row->weight);
	if (has_children(options))
		fprintf(context->out, "%s%.4f", sep, rows__percent(rows, row->all_weight));
	for (int i = 0; i < options->sort.nr; i++) {
		char buf[VALUE_TEXT];

		fprintf(context->out, "%s", sep);
		printable__put_csv(
			context->out,
			text_of(options->sort.keys[i], &row->values[i], buf, sizeof(buf)), sep);
	}
	fprintf(context->out, "\n");
}

/* --- JSON --- */

/*
 * Print the nodes below @node at @depth, each before those below it. It is one list, since parsers bound
 * how deep lists may nest (256 levels in jq 1.6), and stacks are deeper.
 */
static void print_json_nodes(const struct print_context *context, const struct call_tree *tree,
			     int node, int depth)
{
	for (int below = tree->nodes[node].first; below >= 0; below = tree->nodes[below].next) {
		const struct call_node *n = &tree->nodes[below];
		char buf[FRAME_LABEL_MAX];

		fprintf(context->out, "%s{\"depth\": %d, \"sym\": ",
			depth > 1 || below != tree->nodes[node].first ? ", " : "", depth);
		json_string__print(context->out, function_of(context, n, buf));
		fprintf(context->out, ", \"samples\": %" PRIu64 ", \"weight\": %" PRIu64 "}", n->nr,
			n->weight);
		print_json_nodes(context, tree, below, depth + 1);
	}
}

static void print_json_values(const struct print_context *context, const struct row *row)
{
	const struct sort_keys *sort = &context->options->sort;

	for (int i = 0; i < sort->nr; i++) {
		char buf[VALUE_TEXT];

		fprintf(context->out, ", \"%s\": ", sort_key__name(sort->keys[i]));
		if (row->values[i].is_missing && sort_key__is_number(sort->keys[i]))
			fprintf(context->out, "null");
		else if (sort_key__is_number(sort->keys[i]))
			fprintf(context->out, "%" PRId64, row->values[i].number);
		else
			json_string__print(context->out, text_of(sort->keys[i], &row->values[i],
								 buf, sizeof(buf)));
	}
}

static void print_json_row(const struct print_context *context, const struct rows *rows,
			   const struct row *row)
{
	fprintf(context->out, "{");
	if (context->options->has_interval)
		fprintf(context->out, "\"interval\": %.9f, ",
			(double)context->time_ns / NSEC_PER_SEC);
	fprintf(context->out, "\"event\": ");
	json_string__print(context->out, context->event);
	fprintf(context->out,
		", \"overhead\": %.4f, \"samples\": %" PRIu64 ", \"weight\": %" PRIu64,
		rows__percent(rows, row->weight), row->nr, row->weight);
	if (has_children(context->options))
		fprintf(context->out, ", \"children\": %.4f", rows__percent(rows, row->all_weight));
	print_json_values(context, row);
	if (row->tree.nr > 1) {
		fprintf(context->out, ", \"%s\": [",
			context->options->is_caller ? "callees" : "callers");
		print_json_nodes(context, &row->tree, 0, 1);
		fprintf(context->out, "]");
	}
	fprintf(context->out, "}\n");
}

int print_rows(const struct print_context *context, const struct samples *samples, int event)
{
	struct rows rows;
	int err = rows__make(&rows, samples, context->options, event);

	if (!err && context->options->format == FORMAT_TEXT)
		print_text(context, &rows);
	for (int i = 0; i < rows.nr && !err; i++) {
		if (!is_listed(context, &rows, &rows.rows[i]))
			continue;
		if (context->options->format == FORMAT_CSV)
			print_csv_row(context, &rows, &rows.rows[i]);
		else if (context->options->format == FORMAT_JSON)
			print_json_row(context, &rows, &rows.rows[i]);
	}
	rows__clear(&rows);
	return err;
}

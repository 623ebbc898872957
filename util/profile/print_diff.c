// SPDX-License-Identifier: GPL-2.0
#include "util/profile/print_diff.h"

#include "util/lib/json_string.h"
#include "util/lib/printable.h"
#include "util/lib/util.h"
#include "util/profile/account.h"
#include "util/profile/flame_tree.h"
#include "util/profile/profile_options.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A function without what it called. */
struct diff_row {
	const char *name;
	uint64_t weights[2]; /* before, after */
	double percents[2];
	double change; /* in points */
};

static void add_selves(struct diff_row *rows, const struct flame_tree *tree)
{
	const struct call_node *nodes = tree->calls.nodes;

	for (int i = 1; i < tree->calls.nr; i++) {
		struct diff_row *row = &rows[nodes[i].function];

		row->weights[0] += nodes[i].nr;
		row->weights[1] += nodes[i].weight;
		for (int below = nodes[i].first; below >= 0; below = nodes[below].next) {
			row->weights[0] -= nodes[below].nr;
			row->weights[1] -= nodes[below].weight;
		}
	}
}

static int compare(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;

	if (fabs(x->change) != fabs(y->change))
		return fabs(x->change) > fabs(y->change) ? -1 : 1;
	return strcmp(x->name, y->name);
}

static struct diff_row *make_rows(const struct flame_tree *tree)
{
	const struct call_node *root = &tree->calls.nodes[0];
	struct diff_row *rows = calloc(tree->frames.nr, sizeof(*rows));

	if (!rows)
		return NULL;
	add_selves(rows, tree);
	for (int i = 0; i < tree->frames.nr; i++) {
		struct diff_row *row = &rows[i];

		row->name = flame_tree__frame(tree, i).name;
		row->percents[0] = 100.0 * row->weights[0] / root->nr;
		row->percents[1] = 100.0 * row->weights[1] / root->weight;
		row->change = row->percents[1] - row->percents[0];
	}
	qsort(rows, tree->frames.nr, sizeof(*rows), compare);
	return rows;
}

static void print_row(FILE *out, const struct diff_row *row, const struct profile_options *options)
{
	const char *sep = options->csv_sep;

	if (options->format == FORMAT_CSV) {
		fprintf(out, "%.4f%s%.4f%s%.4f%s%" PRIu64 "%s%" PRIu64 "%s", row->percents[0], sep,
			row->percents[1], sep, row->change, sep, row->weights[0], sep,
			row->weights[1], sep);
		printable__put_csv(out, row->name, sep);
		fprintf(out, "\n");
	} else if (options->format == FORMAT_JSON) {
		fprintf(out,
			"{\"before\": %.4f, \"after\": %.4f, \"change\": %.4f, \"weight_before\": %" PRIu64
			", \"weight_after\": %" PRIu64 ", \"sym\": ",
			row->percents[0], row->percents[1], row->change, row->weights[0],
			row->weights[1]);
		json_string__print(out, row->name);
		fprintf(out, "}\n");
	} else {
		fprintf(out, "  %8.2f%% %8.2f%% %+8.2f  ", row->percents[0], row->percents[1],
			row->change);
		printable__put(out, 0, row->name);
		fprintf(out, "\n");
	}
}

static void print_head(FILE *out, const struct flame_tree *tree, const char *const names[2])
{
	const uint64_t sums[2] = {tree->calls.nodes[0].nr, tree->calls.nodes[0].weight};
	char digits[32];

	for (int i = 0; i < 2; i++) {
		fprintf(out, "# %s: %s of ", i ? "after" : "before",
			account__group_digits(sums[i], digits));
		printable__put(out, 0, names[i]);
		fprintf(out, "\n");
	}
	fprintf(out, "#\n#   Before     After   Change  Symbol\n");
}

int print_diff(FILE *out, const struct flame_tree *tree, const struct profile_options *options,
	       const char *const names[2])
{
	struct diff_row *rows __cleanup(free_ptr) = make_rows(tree);

	if (!rows)
		return -ENOMEM;
	if (options->format == FORMAT_TEXT)
		print_head(out, tree, names);
	for (int i = 0; i < tree->frames.nr; i++) {
		const struct diff_row *row = &rows[i];

		if ((row->weights[0] || row->weights[1]) &&
		    fmax(row->percents[0], row->percents[1]) >= options->percent_limit)
			print_row(out, row, options);
	}
	return 0;
}

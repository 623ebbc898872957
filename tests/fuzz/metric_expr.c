// SPDX-License-Identifier: GPL-2.0
/* Any text must be an expression that can be computed, or be refused with a reason and a column. */
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/metric/expr_eval.h"
#include "util/metric/expr_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double value_of(void *data, int id)
{
	const char *name = metric_expr__id(data, id);

	assert(name && *name);
	return strlen(name) % 3 ? strlen(name) : 0;
}

static double literal_of(void *data, const char *name)
{
	(void)data;
	return strlen(name) - 1.0;
}

static bool answer(void *data, const char *name)
{
	(void)data;
	return strlen(name) & 1;
}

static void compute(const struct metric_expr *expr)
{
	struct metric_expr_ctx full = {
		.data = (void *)expr,
		.value = value_of,
		.source_count = value_of,
		.aggr_nr = value_of,
		.literal = literal_of,
		.has_event = answer,
		.match_cpuid = answer,
	};
	const struct metric_expr_ctx empty = {};
	int nr = metric_expr__nr_ids(expr), i, j;
	bool *needed = calloc(nr + 1, sizeof(*needed));
	double value = -1;
	int err;

	assert(needed);
	for (i = 0; i < nr; i++) {
		assert(!strchr(metric_expr__id(expr, i), '\\'));
		for (j = 0; j < i; j++)
			assert(strcmp(metric_expr__id(expr, i), metric_expr__id(expr, j)));
	}
	metric_expr__find_needed(expr, &full, needed);
	err = metric_expr__eval(expr, &full, &value);
	assert(!err || err == -EDOM);
	err = metric_expr__eval(expr, &empty, &value);
	assert(!err || err == -EDOM);
	free(needed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct metric_expr_error error = {-1, NULL};
	struct metric_expr *expr;
	int err;

	assert(text);
	err = metric_expr__parse(text, &expr, &error);
	if (err) {
		assert(err == -EINVAL && error.reason);
		assert(error.column >= 0 && error.column <= (int)strlen(text));
	} else {
		compute(expr);
		metric_expr__delete(expr);
	}
	free(text);
	return 0;
}

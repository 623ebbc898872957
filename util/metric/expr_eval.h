/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_METRIC_EXPR_EVAL_H
#define PERF_METRIC_EXPR_EVAL_H

/* The value of a metric's expression, computed for every row. */

#include <stdbool.h>

struct metric_expr;

/*
 * The source of an expression's values. @id is an index below metric_expr__nr_ids(). A callback may be
 * NULL: values, counts and literals are then NaN, and questions false.
 */
struct metric_expr_ctx {
	void *data;				    /* passed to every callback */
	double (*value)(void *data, int id);	    /* of an event, tool event or other metric */
	double (*source_count)(void *data, int id); /* PMU instances summed into it */
	double (*aggr_nr)(void *data, int id);	    /* counters summed into it in this row */
	double (*literal)(void *data, const char *name); /* name without '#' */
	bool (*has_event)(void *data, const char *name);
	bool (*match_cpuid)(void *data, const char *pattern);
};

/**
 * metric_expr__find_needed() - find the identifiers whose values are needed
 * @needed: array of metric_expr__nr_ids() flags, set or cleared
 *
 * If the condition of an if/else is constant, identifiers in the other branch are not needed. Calls
 * only ctx->literal, has_event and match_cpuid.
 */
void metric_expr__find_needed(const struct metric_expr *expr, const struct metric_expr_ctx *ctx,
			      bool *needed);

/**
 * metric_expr__eval() - compute an expression
 * @value: receives the result; NaN if an input is NaN
 *
 * Return: 0, or -EDOM after a remainder by zero.
 */
int metric_expr__eval(const struct metric_expr *expr, const struct metric_expr_ctx *ctx,
		      double *value);

#endif

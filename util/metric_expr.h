/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_METRIC_EXPR_H
#define PERF_UTIL_METRIC_EXPR_H

/* The expression language of metrics: parsed once, evaluated for every row. */

#include <stdbool.h>

struct metric_expr;

/* Why and where a text is no expression. */
struct metric_expr_error {
	int column;		/* of the problem, from 0 */
	const char *reason;	/* static text */
};

/*
 * Where an expression gets its values from. @id is an index below metric_expr__nr_ids(). Every
 * callback may be NULL: values, counts and literals are then NaN, questions answered with no.
 */
struct metric_expr_ctx {
	void *data;				/* handed to every callback */
	double (*value)(void *data, int id);	/* of an event, tool event or other metric */
	double (*source_count)(void *data, int id);	/* PMU instances summed into it */
	double (*aggr_nr)(void *data, int id);	/* counters summed into it in this row */
	double (*literal)(void *data, const char *name);	/* name without '#' */
	bool (*has_event)(void *data, const char *name);
	bool (*match_cpuid)(void *data, const char *pattern);
};

/**
 * metric_expr__parse() - parse an expression
 * @text: the expression
 * @param: replaces every '?' in identifiers; negative: '?' stays
 * @out: on success the expression, owned by the caller
 * @err: filled with -EINVAL
 *
 * Return: 0, -EINVAL (syntax) or -ENOMEM.
 */
int metric_expr__parse(const char *text, int param, struct metric_expr **out,
		       struct metric_expr_error *err);
void metric_expr__delete(struct metric_expr *expr);

/** metric_expr__nr_ids(), metric_expr__id() - the distinct identifiers: backslashes removed, '/' */
int metric_expr__nr_ids(const struct metric_expr *expr);
const char *metric_expr__id(const struct metric_expr *expr, int id);

/**
 * metric_expr__find_needed() - which identifiers a value is needed of
 * @needed: array of metric_expr__nr_ids() flags, set or cleared
 *
 * Branches of if/else whose condition is constant are decided here: what only the other branch
 * mentions is not needed. Only ctx->literal, has_event and match_cpuid are called.
 */
void metric_expr__find_needed(const struct metric_expr *expr, const struct metric_expr_ctx *ctx,
			      bool *needed);

/**
 * metric_expr__eval() - compute it
 * @value: receives the result, NaN where an input is
 *
 * Return: 0, or -EDOM when a remainder by zero makes it uncomputable.
 */
int metric_expr__eval(const struct metric_expr *expr, const struct metric_expr_ctx *ctx,
		      double *value);

#endif

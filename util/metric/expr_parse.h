/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_METRIC_EXPR_PARSE_H
#define PERF_METRIC_EXPR_PARSE_H

/* The expression language of metrics: from text to tree. */

struct metric_expr;

/* The reason and place of a syntax error. */
struct metric_expr_error {
	int column;	    /* of the problem, from 0 */
	const char *reason; /* static text */
};

/**
 * metric_expr__parse() - parse an expression
 * @text: the expression
 * @out: on success the expression, owned by the caller
 * @err: filled with -EINVAL
 *
 * Return: 0, -EINVAL (syntax) or -ENOMEM.
 */
int metric_expr__parse(const char *text, struct metric_expr **out, struct metric_expr_error *err);
void metric_expr__delete(struct metric_expr *expr);

/** metric_expr__nr_ids(), metric_expr__id() - the distinct identifiers, as event syntax */
int metric_expr__nr_ids(const struct metric_expr *expr);
const char *metric_expr__id(const struct metric_expr *expr, int id);

#endif

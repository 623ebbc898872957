/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_METRIC_EXPR_PRIV_H
#define PERF_UTIL_METRIC_EXPR_PRIV_H

/* A parsed expression, as metric_expr.c makes it and metric_eval.c computes it. */

#include <stdbool.h>

/*
 * A tree in an array of nodes. Nodes refer to each other by index, because the array moves while
 * it grows; node 0 is never used, so that 0 means "none" or "failed".
 */
enum op {
	OP_NUMBER,
	OP_ID,
	OP_LITERAL,
	OP_IF,		/* a: condition, b: then, c: else */
	OP_OR,
	OP_XOR,
	OP_AND,
	OP_LESS,
	OP_GREATER,
	OP_ADD,
	OP_SUB,
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_NEG,
	OP_MIN,
	OP_MAX,
	OP_D_RATIO,
	OP_SOURCE_COUNT,
	OP_AGGR_NR,
	OP_HAS_EVENT,
	OP_CPUID,
};

struct node {
	enum op op;
	int a, b, c;		/* operands: nodes */
	double number;		/* OP_NUMBER */
	int id;			/* OP_ID, OP_SOURCE_COUNT, OP_AGGR_NR */
	char *name;		/* OP_LITERAL, OP_HAS_EVENT, OP_CPUID; owned */
};

struct metric_expr {
	struct node *nodes;
	int nr_nodes;
	char **ids;
	int nr_ids;
	int root;
};

#endif

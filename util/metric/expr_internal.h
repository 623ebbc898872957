/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_METRIC_EXPR_INTERNAL_H
#define PERF_METRIC_EXPR_INTERNAL_H

/* The tree of a parsed expression, made by expr_parse.c and computed by expr_eval.c. */

#include <stdbool.h>

/*
 * A tree in an array of nodes. Nodes refer to each other by index, because the array moves while
 * it grows. Node 0 is unused, so 0 means "none" or "failed".
 */
enum op {
	OP_NUMBER,
	OP_ID,
	OP_LITERAL,
	OP_IF, /* a: condition, b: then, c: else */
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
	int a, b, c;   /* operands: nodes */
	double number; /* OP_NUMBER */
	int id;	       /* OP_ID, OP_SOURCE_COUNT, OP_AGGR_NR */
	char *name;    /* OP_LITERAL, OP_HAS_EVENT, OP_CPUID; owned */
};

struct metric_expr {
	struct node *nodes;
	int nr_nodes;
	char **ids;
	int nr_ids;
	int root;
};

#endif

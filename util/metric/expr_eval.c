// SPDX-License-Identifier: GPL-2.0
#include "util/metric/expr_eval.h"

#include "util/metric/expr_internal.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* State of one evaluation. */
struct evaluation {
	const struct metric_expr *expr;
	const struct metric_expr_ctx *ctx;
	bool uncomputable;
};

static double eval(struct evaluation *e, int index);

static double truth(bool answer)
{
	return answer ? 1 : 0;
}

/* One known side can decide: 0 & NaN is 0, 1 | NaN is 1. */
static double eval_logical(enum op op, double a, double b)
{
	if (op == OP_AND && (a == 0 || b == 0))
		return 0;
	if (op == OP_OR && ((!isnan(a) && a != 0) || (!isnan(b) && b != 0)))
		return 1;
	if (isnan(a) || isnan(b))
		return NAN;
	return truth(op == OP_AND ? true : op == OP_OR ? false : (a != 0) != (b != 0));
}

static double eval_remainder(struct evaluation *e, double a, double b)
{
	if (isnan(a) || isnan(b))
		return NAN;
	if (trunc(b) == 0) {
		e->uncomputable = true;
		return NAN;
	}
	return fmod(trunc(a), trunc(b));
}

static double eval_binary(struct evaluation *e, enum op op, double a, double b)
{
	switch (op) {
	case OP_OR:
	case OP_XOR:
	case OP_AND:
		return eval_logical(op, a, b);
	case OP_MOD:
		return eval_remainder(e, a, b);
	case OP_LESS:
		return isnan(a) || isnan(b) ? NAN : truth(a < b);
	case OP_GREATER:
		return isnan(a) || isnan(b) ? NAN : truth(a > b);
	case OP_ADD:
		return a + b;
	case OP_SUB:
		return a - b;
	case OP_MUL:
		return a * b;
	case OP_DIV:
		return b == 0 ? NAN : a / b;
	case OP_D_RATIO:
		return isnan(a) ? NAN : b == 0 ? 0 : a / b;
	case OP_MIN:
		return isnan(a) || isnan(b) ? NAN : fmin(a, b);
	case OP_MAX:
		return isnan(a) || isnan(b) ? NAN : fmax(a, b);
	default:
		return NAN;
	}
}

static double eval_if(struct evaluation *e, const struct node *n)
{
	double condition = eval(e, n->a);

	if (isnan(condition))
		return NAN;
	return eval(e, condition != 0 ? n->b : n->c);
}

static double eval(struct evaluation *e, int index)
{
	const struct node *n = &e->expr->nodes[index];
	const struct metric_expr_ctx *ctx = e->ctx;
	double a;

	switch (n->op) {
	case OP_NUMBER:
		return n->number;
	case OP_ID:
		return ctx->value ? ctx->value(ctx->data, n->id) : NAN;
	case OP_SOURCE_COUNT:
		return ctx->source_count ? ctx->source_count(ctx->data, n->id) : NAN;
	case OP_AGGR_NR:
		return ctx->aggr_nr ? ctx->aggr_nr(ctx->data, n->id) : NAN;
	case OP_LITERAL:
		return ctx->literal ? ctx->literal(ctx->data, n->name) : NAN;
	case OP_HAS_EVENT:
		return truth(ctx->has_event && ctx->has_event(ctx->data, n->name));
	case OP_CPUID:
		return truth(ctx->match_cpuid && ctx->match_cpuid(ctx->data, n->name));
	case OP_IF:
		return eval_if(e, n);
	case OP_NEG:
		return -eval(e, n->a);
	default:
		a = eval(e, n->a);
		return eval_binary(e, n->op, a, eval(e, n->b));
	}
}

int metric_expr__eval(const struct metric_expr *expr, const struct metric_expr_ctx *ctx,
		      double *value)
{
	struct evaluation e = {.expr = expr, .ctx = ctx};

	*value = eval(&e, expr->root);
	return e.uncomputable ? -EDOM : 0;
}

static bool is_constant(const struct metric_expr *expr, int index)
{
	const struct node *n = &expr->nodes[index];

	if (n->op == OP_ID || n->op == OP_SOURCE_COUNT || n->op == OP_AGGR_NR)
		return false;
	return (!n->a || is_constant(expr, n->a)) && (!n->b || is_constant(expr, n->b)) &&
	       (!n->c || is_constant(expr, n->c));
}

static void find_needed(struct evaluation *e, int index, bool *needed)
{
	const struct node *n = &e->expr->nodes[index];
	double condition;

	if (n->id >= 0)
		needed[n->id] = true;
	if (n->op == OP_IF && is_constant(e->expr, n->a)) {
		condition = eval(e, n->a);
		if (!isnan(condition)) {
			find_needed(e, condition != 0 ? n->b : n->c, needed);
			return;
		}
	}
	if (n->a)
		find_needed(e, n->a, needed);
	if (n->b)
		find_needed(e, n->b, needed);
	if (n->c)
		find_needed(e, n->c, needed);
}

void metric_expr__find_needed(const struct metric_expr *expr, const struct metric_expr_ctx *ctx,
			      bool *needed)
{
	struct evaluation e = {.expr = expr, .ctx = ctx};

	memset(needed, 0, expr->nr_ids * sizeof(*needed));
	find_needed(&e, expr->root, needed);
}

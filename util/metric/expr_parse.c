// SPDX-License-Identifier: GPL-2.0
#include "util/lib/util.h"
#include "util/lib/array.h"
#include "util/metric/expr_internal.h"
#include "util/metric/expr_parse.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Deeper nesting would overflow the stack. */
#define MAX_DEPTH 256
/* A chain of operators is a tree as deep as it is long. Vendors' have some hundred nodes. */
#define MAX_NODES 8192

struct parser {
	struct metric_expr *expr;
	const char *text, *pos;
	int depth;
	int error; /* 0 or -errno */
	struct metric_expr_error *report;
};

static int fail(struct parser *p, const char *at, const char *reason)
{
	if (!p->error) {
		p->error = -EINVAL;
		p->report->column = at - p->text;
		p->report->reason = reason;
	}
	return 0;
}

static int new_node(struct parser *p, enum op op, int a, int b, int c)
{
	struct metric_expr *expr = p->expr;
	struct node *node;

	if (p->error)
		return 0;
	if (expr->nr_nodes == MAX_NODES)
		return fail(p, p->pos, "too long");
	node = array__add(expr->nodes, expr->nr_nodes);
	if (!node) {
		p->error = -ENOMEM;
		return 0;
	}
	*node = (struct node){.op = op, .a = a, .b = b, .c = c, .id = -1};
	return expr->nr_nodes - 1;
}

static void skip_blanks(struct parser *p)
{
	p->pos += strspn(p->pos, " \t\n");
}

static bool is_id_char(const char *s)
{
	return isalnum((unsigned char)*s) || (*s && strchr("_.:@?", *s)) ||
	       (*s == '\\' && s[1] && strchr("-,=", s[1]));
}

/* Terms of an event, between two '@', may have a '=' without a backslash, as in Linux 7's files. */
static size_t id_len(const char *s)
{
	const char *end = s;
	bool in_terms = false;

	while (is_id_char(end) || (in_terms && *end == '=')) {
		in_terms ^= *end == '@';
		end += *end == '\\' ? 2 : 1;
	}
	return end - s;
}

/* Consume @word if it is the next whole word. */
static bool accept_word(struct parser *p, const char *word)
{
	skip_blanks(p);
	if (id_len(p->pos) != strlen(word) || strncmp(p->pos, word, strlen(word)))
		return false;
	p->pos += strlen(word);
	return true;
}

static bool accept_char(struct parser *p, char c)
{
	skip_blanks(p);
	if (*p->pos != c)
		return false;
	p->pos++;
	return true;
}

static bool expect_char(struct parser *p, char c, const char *reason)
{
	if (accept_char(p, c))
		return true;
	fail(p, p->pos, reason);
	return false;
}

/* Return: an identifier as event syntax: without backslashes, '/' instead of '@'. */
static char *unescape_id(struct parser *p, const char *text, size_t len)
{
	char *first, *last, *out = malloc(len + 1);
	size_t i, n = 0;

	if (!out) {
		p->error = -ENOMEM;
		return NULL;
	}
	for (i = 0; i < len; i++) {
		if (text[i] != '\\')
			out[n++] = text[i];
	}
	out[n] = '\0';
	first = strchr(out, '@');
	last = strrchr(out, '@');
	if (first)
		*first = *last = '/';
	return out;
}

/* Add an identifier to the table, once; takes @name. Return: its index or -1. */
static int add_id(struct parser *p, char *name)
{
	struct metric_expr *expr = p->expr;
	char **added;
	int i;

	for (i = 0; i < expr->nr_ids; i++) {
		if (!strcmp(expr->ids[i], name)) {
			free(name);
			return i;
		}
	}
	added = array__add(expr->ids, expr->nr_ids);
	if (!added) {
		free(name);
		p->error = -ENOMEM;
		return -1;
	}
	*added = name;
	return expr->nr_ids - 1;
}

/* digits [ "." digits ] [ "e" [ "-" ] digits ], and not the start of an identifier */
static size_t number_len(const char *s)
{
	const char *end = s, *exponent;

	while (isdigit((unsigned char)*end))
		end++;
	if (end == s && (*end != '.' || !isdigit((unsigned char)end[1])))
		return 0;
	if (*end == '.')
		end++;
	while (isdigit((unsigned char)*end))
		end++;
	if (*end == 'e' || *end == 'E') {
		exponent = end + 1;
		if (*exponent == '-' || *exponent == '+')
			exponent++;
		if (isdigit((unsigned char)*exponent)) {
			end = exponent;
			while (isdigit((unsigned char)*end))
				end++;
		}
	}
	return is_id_char(end) ? 0 : end - s;
}

/* Numbers in definitions have a decimal point in any locale. */
static double parse_number(const char *text)
{
	locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	double value;

	if (!c_locale)
		return strtod(text, NULL);
	value = strtod_l(text, NULL, c_locale);
	freelocale(c_locale);
	return value;
}

static int parse_number_node(struct parser *p, double value)
{
	int node = new_node(p, OP_NUMBER, 0, 0, 0);

	if (node)
		p->expr->nodes[node].number = value;
	return node;
}

static int parse_id_node(struct parser *p, enum op op)
{
	const char *start;
	size_t len;
	char *name;
	int node, id;

	skip_blanks(p);
	start = p->pos;
	len = id_len(start);
	if (!len)
		return fail(p, start, "expected an event name");
	p->pos += len;
	name = unescape_id(p, start, len);
	if (!name)
		return 0;
	node = new_node(p, op, 0, 0, 0);
	if (!node) {
		free(name);
		return 0;
	}
	if (op == OP_HAS_EVENT || op == OP_CPUID) {
		p->expr->nodes[node].name = name;
		return node;
	}
	id = add_id(p, name);
	if (id < 0)
		return 0;
	p->expr->nodes[node].id = id;
	return node;
}

static int parse_literal(struct parser *p)
{
	const char *start = p->pos;
	size_t len = id_len(start + 1);
	int node;

	if (!len)
		return fail(p, start, "expected a name behind '#'");
	p->pos += 1 + len;
	node = new_node(p, OP_LITERAL, 0, 0, 0);
	if (!node)
		return 0;
	p->expr->nodes[node].name = strndup(start + 1, len);
	if (!p->expr->nodes[node].name)
		p->error = -ENOMEM;
	return node;
}

static int parse_cond(struct parser *p);

/* Functions: of two expressions, or of one name. */
static const struct {
	const char *name;
	enum op op;
	bool of_id;
} functions[] = {
	{"min", OP_MIN, false},
	{"max", OP_MAX, false},
	{"d_ratio", OP_D_RATIO, false},
	{"source_count", OP_SOURCE_COUNT, true},
	{"aggr_nr", OP_AGGR_NR, true},
	{"has_event", OP_HAS_EVENT, true},
	{"strcmp_cpuid_str", OP_CPUID, true},
};

static int parse_arguments(struct parser *p, enum op op, bool of_id)
{
	int node, a, b;

	if (!expect_char(p, '(', "expected '('"))
		return 0;
	if (of_id) {
		node = parse_id_node(p, op);
	} else {
		a = parse_cond(p);
		if (!expect_char(p, ',', "expected ','"))
			return 0;
		b = parse_cond(p);
		node = new_node(p, op, a, b, 0);
	}
	return expect_char(p, ')', "expected ')'") ? node : 0;
}

static int parse_primary(struct parser *p)
{
	size_t i, len;
	int node;

	skip_blanks(p);
	if (*p->pos == '#')
		return parse_literal(p);
	if (accept_char(p, '(')) {
		node = parse_cond(p);
		return expect_char(p, ')', "expected ')'") ? node : 0;
	}
	len = number_len(p->pos);
	if (len) {
		node = parse_number_node(p, parse_number(p->pos));
		p->pos += len;
		return node;
	}
	if (accept_word(p, "NaN"))
		return parse_number_node(p, NAN);
	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		if (accept_word(p, functions[i].name))
			return parse_arguments(p, functions[i].op, functions[i].of_id);
	}
	len = id_len(p->pos);
	if ((len == 2 && !strncmp(p->pos, "if", 2)) || (len == 4 && !strncmp(p->pos, "else", 4)))
		return fail(p, p->pos, "expected a value");
	if (!len)
		return fail(p, p->pos, *p->pos ? "unexpected character" : "unexpected end");
	return parse_id_node(p, OP_ID);
}

static int parse_unary(struct parser *p)
{
	int node;

	if (++p->depth > MAX_DEPTH) {
		node = fail(p, p->pos, "nested too deeply");
	} else if (accept_char(p, '-')) {
		node = parse_unary(p);
		node = new_node(p, OP_NEG, node, 0, 0);
	} else {
		node = parse_primary(p);
	}
	p->depth--;
	return node;
}

/* Binary operators from the loosest level to the tightest; all associate to the left. */
static const struct {
	char sign;
	int level;
	enum op op;
} operators[] = {
	{'|', 0, OP_OR},      {'^', 1, OP_XOR}, {'&', 2, OP_AND}, {'<', 3, OP_LESS},
	{'>', 3, OP_GREATER}, {'+', 4, OP_ADD}, {'-', 4, OP_SUB}, {'*', 5, OP_MUL},
	{'/', 5, OP_DIV},     {'%', 5, OP_MOD},
};

#define NR_LEVELS 6

static int parse_binary(struct parser *p, int level)
{
	int left = level + 1 < NR_LEVELS ? parse_binary(p, level + 1) : parse_unary(p);
	int right;
	size_t i = 0;

	while (!p->error && i < ARRAY_SIZE(operators)) {
		if (operators[i].level != level || !accept_char(p, operators[i].sign)) {
			i++;
			continue;
		}
		right = level + 1 < NR_LEVELS ? parse_binary(p, level + 1) : parse_unary(p);
		left = new_node(p, operators[i].op, left, right, 0);
		i = 0;
	}
	return left;
}

static int parse_cond(struct parser *p)
{
	int value, condition, other;

	if (++p->depth > MAX_DEPTH)
		return fail(p, p->pos, "nested too deeply");
	value = parse_binary(p, 0);
	if (!p->error && accept_word(p, "if")) {
		condition = parse_binary(p, 0);
		if (!p->error && !accept_word(p, "else"))
			fail(p, p->pos, "expected 'else'");
		other = p->error ? 0 : parse_cond(p);
		value = new_node(p, OP_IF, condition, value, other);
	}
	p->depth--;
	return value;
}

int metric_expr__parse(const char *text, struct metric_expr **out, struct metric_expr_error *err)
{
	struct parser p = {.text = text, .pos = text, .report = err};

	p.expr = calloc(1, sizeof(*p.expr));
	if (!p.expr)
		return -ENOMEM;
	new_node(&p, OP_NUMBER, 0, 0, 0); /* node 0 */
	p.expr->root = parse_cond(&p);
	skip_blanks(&p);
	if (!p.error && *p.pos)
		fail(&p, p.pos, "expected an operator");
	if (p.error) {
		metric_expr__delete(p.expr);
		return p.error;
	}
	*out = p.expr;
	return 0;
}

void metric_expr__delete(struct metric_expr *expr)
{
	int i;

	if (!expr)
		return;
	for (i = 0; i < expr->nr_nodes; i++)
		free(expr->nodes[i].name);
	for (i = 0; i < expr->nr_ids; i++)
		free(expr->ids[i]);
	free(expr->nodes);
	free(expr->ids);
	free(expr);
}

int metric_expr__nr_ids(const struct metric_expr *expr)
{
	return expr->nr_ids;
}

const char *metric_expr__id(const struct metric_expr *expr, int id)
{
	return expr->ids[id];
}

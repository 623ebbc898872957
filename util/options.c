// SPDX-License-Identifier: GPL-2.0
#include "options.h"

#include "msg.h"
#include "util.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAX_ROWS 128
/* getopt's values: letters, then two per row: --name and --no-name. */
#define LONG_BASE 1024

static bool is_end(const struct option_row *row)
{
	return !row->letter && !row->name;
}

static bool wants_arg(const struct option_row *row)
{
	return row->kind == OPT_STRING || row->kind == OPT_UINT || row->kind == OPT_INT ||
	       row->kind == OPT_CALL;
}

static bool is_negatable(const struct option_row *row)
{
	return row->kind == OPT_FLAG || row->kind == OPT_NEGATED;
}

struct getopt_tables {
	char letters[2 * MAX_ROWS + 8];
	struct option longs[2 * MAX_ROWS + 1];
	char *negated[2 * MAX_ROWS];	/* owned names */
	int nr_negated;
};

static int make_tables(const struct option_row *rows, struct getopt_tables *t)
{
	char *letter = t->letters;
	struct option *opt = t->longs;

	memset(t, 0, sizeof(*t));
	*letter++ = '+';	/* stop at the command */
	*letter++ = ':';	/* tell a missing argument from an unknown option */
	for (int i = 0; !is_end(&rows[i]); i++) {
		const struct option_row *row = &rows[i];

		if (row->letter) {
			*letter++ = row->letter;
			if (wants_arg(row))
				*letter++ = ':';
		}
		if (!row->name)
			continue;
		*opt++ = (struct option){
			.name = row->name,
			.has_arg = wants_arg(row)		? required_argument :
				   row->kind == OPT_CALL_OPT ? optional_argument : no_argument,
			.val = LONG_BASE + 2 * i,
		};
		if (is_negatable(row)) {
			char *name = xasprintf("no-%s", row->name);

			if (!name)
				return -ENOMEM;
			t->negated[t->nr_negated++] = name;
			*opt++ = (struct option){ .name = name, .val = LONG_BASE + 2 * i + 1 };
		}
	}
	return 0;
}

static void free_tables(struct getopt_tables *t)
{
	while (t->nr_negated)
		free(t->negated[--t->nr_negated]);
}

static const char *shown_name(const struct option_row *row, char buf[64])
{
	if (row->name)
		snprintf(buf, 64, "option `%s'", row->name);
	else
		snprintf(buf, 64, "switch `%c'", row->letter);
	return buf;
}

static int set_number(const struct option_row *row, void *var, const char *arg)
{
	char buf[64], *end;
	long long value;

	errno = 0;
	value = strtoll(arg, &end, 0);
	if (end == arg || *end || isspace((unsigned char)*arg)) {
		pr_err("%s expects a numerical value, not '%s'", shown_name(row, buf), arg);
		return -EINVAL;
	}
	if (errno || value > (row->kind == OPT_UINT ? (long long)UINT_MAX : INT_MAX) ||
	    value < (row->kind == OPT_UINT ? 0 : INT_MIN)) {
		pr_err("%s: '%s' is out of range", shown_name(row, buf), arg);
		return -EINVAL;
	}
	if (row->kind == OPT_UINT)
		*(unsigned int *)var = value;
	else
		*(int *)var = value;
	return 0;
}

static int set(const struct option_row *row, void *ctx, const char *arg, bool is_negated, bool by_name)
{
	void *var = (char *)ctx + row->offset;

	switch (row->kind) {
	case OPT_FLAG:
		*(bool *)var = !is_negated;
		return 0;
	case OPT_NEGATED:
		*(bool *)var = is_negated || !by_name;
		return 0;
	case OPT_COUNT:
		++*(int *)var;
		return 0;
	case OPT_STRING:
		*(const char **)var = arg;
		return 0;
	case OPT_UINT:
	case OPT_INT:
		return set_number(row, var, arg);
	case OPT_CALL:
	case OPT_CALL_OPT:
	case OPT_CALL_NONE:
		return row->call(ctx, arg);
	}
	return -EINVAL;
}

static const struct option_row *find_letter(const struct option_row *rows, int letter)
{
	for (; !is_end(rows); rows++) {
		if (rows->letter == letter)
			return rows;
	}
	return NULL;
}

static void say_unknown(const struct getopt_tables *t, const char *arg)
{
	const char *names[2 * MAX_ROWS + 1], *near;
	int nr = 0;

	if (strncmp(arg, "--", 2)) {
		pr_err("unknown switch `%c'", optopt);
		return;
	}
	for (const struct option *opt = t->longs; opt->name; opt++)
		names[nr++] = opt->name;
	names[nr] = NULL;
	near = nearest_name(arg + 2, names);
	if (near)
		pr_err("unknown or ambiguous option `%s': did you mean --%s?", arg + 2, near);
	else
		pr_err("unknown or ambiguous option `%s'", arg + 2);
}

int options__parse(const struct option_row *rows, const char *usage, void *ctx, int argc,
		   char **argv)
{
	struct getopt_tables t;
	int ret = -1;

	if (make_tables(rows, &t)) {
		free_tables(&t);
		return -1;
	}
	opterr = 0;
	optind = 0;
	for (;;) {
		int before = optind ? optind : 1, value;
		const struct option_row *row = NULL;
		char buf[64];

		value = getopt_long(argc, argv, t.letters, t.longs, NULL);
		if (value == -1) {
			ret = optind;
			break;
		}
		if (value >= LONG_BASE)
			row = &rows[(value - LONG_BASE) / 2];
		else if (value == ':')
			row = optopt >= LONG_BASE ? &rows[(optopt - LONG_BASE) / 2] :
						    find_letter(rows, optopt);
		else if (value != '?')
			row = find_letter(rows, value);
		if (value == '?' || !row) {
			if (optopt >= LONG_BASE) {
				row = &rows[(optopt - LONG_BASE) / 2];
				pr_err("%s takes no value", shown_name(row, buf));
			} else {
				say_unknown(&t, argv[before]);
			}
			options__usage(rows, usage);
			break;
		}
		if (value == ':') {
			if (optopt >= LONG_BASE)
				pr_err("%s requires a value", shown_name(row, buf));
			else
				pr_err("switch `%c' requires a value", optopt);
			options__usage(rows, usage);
			break;
		}
		if (set(row, ctx, optarg, value >= LONG_BASE && value & 1, value >= LONG_BASE))
			break;
	}
	free_tables(&t);
	return ret;
}

void options__usage(const struct option_row *rows, const char *usage)
{
	pr_text("\n Usage: %s\n\n", usage);
	for (; !is_end(rows); rows++) {
		char head[64];
		int len = 0;

		if (!rows->help)
			continue;
		if (rows->letter)
			len = snprintf(head, sizeof(head), "-%c", rows->letter);
		if (rows->name)
			len += snprintf(head + len, sizeof(head) - len, "%s--%s%s", len ? ", " : "",
					rows->kind == OPT_NEGATED ? "no-" : "", rows->name);
		if (rows->arg)
			snprintf(head + len, sizeof(head) - len,
				 rows->kind == OPT_CALL_OPT ? "[=<%s>]" : " <%s>", rows->arg);
		if (strlen(head) < 26)
			pr_text("    %-26s %s\n", head, rows->help);
		else
			pr_text("    %s\n    %-26s %s\n", head, "", rows->help);
	}
	pr_text("\n");
}

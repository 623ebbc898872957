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
#include <stdlib.h>
#include <string.h>

#define MAX_ROWS 128
/*
 * getopt's values: letters, then what every command has, then two per row: --name and --no-name.
 */
#define VALUE_HELP 1000
#define VALUE_LIST 1001
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
	return row->kind == OPT_FLAG || row->kind == OPT_NEGATED || row->kind == OPT_COUNT;
}

struct getopt_tables {
	char letters[2 * MAX_ROWS + 8];
	struct option longs[2 * MAX_ROWS + 3];	/* --help and --list-opts, rows twice, the end */
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
	*letter++ = 'h';
	*opt++ = (struct option){ .name = "help", .val = VALUE_HELP };
	*opt++ = (struct option){ .name = "list-opts", .val = VALUE_LIST };
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

/* As it was typed. */
static const char *shown_name(const struct option_row *row, bool by_name, char buf[64])
{
	if (by_name)
		snprintf(buf, 64, "option `%s'", row->name);
	else
		snprintf(buf, 64, "switch `%c'", row->letter);
	return buf;
}

/* Decimal or 0x hex: leading zeros do not make octal numbers. */
static int set_number(const struct option_row *row, void *var, const char *arg, bool by_name)
{
	long long low = row->kind == OPT_UINT ? 0 : INT_MIN;
	long long high = row->kind == OPT_UINT ? UINT_MAX : INT_MAX;
	bool is_hex = arg[0] == '0' && (arg[1] == 'x' || arg[1] == 'X');
	char buf[64], *end;
	long long value;

	errno = 0;
	value = strtoll(arg, &end, is_hex ? 16 : 10);
	if (end == arg || *end || isspace((unsigned char)*arg)) {
		pr_err("%s expects a numerical value, not '%s'", shown_name(row, by_name, buf), arg);
		return -EINVAL;
	}
	if (errno || value < low || value > high) {
		pr_err("%s: '%s' is out of range", shown_name(row, by_name, buf), arg);
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
		*(int *)var = is_negated ? 0 : *(int *)var + 1;
		return 0;
	case OPT_STRING:
		*(const char **)var = arg;
		return 0;
	case OPT_UINT:
	case OPT_INT:
		return set_number(row, var, arg, by_name);
	case OPT_CALL:
	case OPT_CALL_OPT:
	case OPT_CALL_NONE:
		return row->call(ctx, arg);
	}
	return -EINVAL;
}

static const struct option_row *find_letter(const struct option_row *rows, int letter)
{
	for (; letter && !is_end(rows); rows++) {
		if (rows->letter == letter)
			return rows;
	}
	return NULL;
}

static void print_row(const struct option_row *row)
{
	char head[64];
	int len = 0;

	if (row->letter)
		len = snprintf(head, sizeof(head), "-%c", row->letter);
	if (row->name)
		len += snprintf(head + len, sizeof(head) - len, "%s--%s%s", len ? ", " : "",
				row->kind == OPT_NEGATED ? "no-" : "", row->name);
	if (row->arg)
		snprintf(head + len, sizeof(head) - len,
			 row->kind == OPT_CALL_OPT ? "[=<%s>]" : " <%s>", row->arg);
	if (strlen(head) < 26)
		pr_text("    %-26s %s\n", head, row->help);
	else
		pr_text("    %s\n    %-26s %s\n", head, "", row->help);
}

void options__usage(const struct option_row *rows, const char *usage)
{
	pr_text("\n Usage: %s\n\n", usage);
	for (; !is_end(rows); rows++) {
		if (rows->help)
			print_row(rows);
	}
	pr_text("\n");
}

/* After a mistake: all options would scroll the message away. */
static void print_short_usage(const struct option_row *row, const char *usage)
{
	pr_text("\n Usage: %s\n", usage);
	if (row && row->help) {
		pr_text("\n");
		print_row(row);
	}
	pr_text("\n");
}

static void list_names(const struct option_row *rows)
{
	for (; !is_end(rows); rows++) {
		if (rows->name)
			printf("--%s%s ", rows->kind == OPT_NEGATED ? "no-" : "", rows->name);
	}
	printf("\n");
}

/* The names a shortened one could stand for, "--a or --b"; NULL: it is not the start of two. */
static char *could_be(const struct getopt_tables *t, const char *word, size_t len)
{
	char *all = NULL;
	int nr = 0;

	for (const struct option *opt = t->longs; opt->name; opt++) {
		char *more;

		if (strncmp(opt->name, word, len))
			continue;
		more = all ? xasprintf("%s or --%s", all, opt->name) : xasprintf("--%s", opt->name);
		free(all);
		all = more;
		if (!all)
			return NULL;
		nr++;
	}
	if (nr < 2)
		free_ptr(&all);
	return all;
}

static void say_unknown(const struct getopt_tables *t, const char *arg)
{
	const char *names[2 * MAX_ROWS + 3], *near;
	char *both __cleanup(free_ptr) = NULL;
	char *word __cleanup(free_ptr) = NULL;
	int nr = 0;

	if (strncmp(arg, "--", 2)) {
		pr_err("unknown switch `%c'", optopt);
		return;
	}
	word = strndup(arg + 2, strcspn(arg + 2, "="));
	if (!word)
		return;
	both = could_be(t, word, strlen(word));
	if (both) {
		pr_err("ambiguous option `%s': %s?", word, both);
		return;
	}
	for (const struct option *opt = t->longs; opt->name; opt++)
		names[nr++] = opt->name;
	names[nr] = NULL;
	near = nearest_name(word, names);
	if (near)
		pr_err("unknown option `%s': did you mean --%s?", word, near);
	else
		pr_err("unknown option `%s'", word);
}

/* The row of what getopt has found, or of what it complains about; NULL: none. */
static const struct option_row *row_of(const struct option_row *rows, int value)
{
	return value >= LONG_BASE ? &rows[(value - LONG_BASE) / 2] : find_letter(rows, value);
}

int options__parse(const struct option_row *rows, const char *usage, void *ctx, int argc,
		   char **argv)
{
	const struct option_row *row;
	struct getopt_tables t;
	int ret = -OPTIONS_USAGE_STATUS;

	if (make_tables(rows, &t)) {
		free_tables(&t);
		return ret;
	}
	opterr = 0;
	optind = 0;
	for (;;) {
		int before = optind ? optind : 1, value;
		char buf[64];

		value = getopt_long(argc, argv, t.letters, t.longs, NULL);
		if (value == -1) {
			ret = optind;
			break;
		}
		if (value == VALUE_HELP || value == 'h') {
			options__usage(rows, usage);
			break;
		}
		if (value == VALUE_LIST) {
			list_names(rows);
			ret = -OPTIONS_LIST_STATUS;
			break;
		}
		row = row_of(rows, value == ':' || value == '?' ? optopt : value);
		if (value == '?') {
			if (optopt >= LONG_BASE)
				pr_err("%s takes no value", shown_name(row, true, buf));
			else if (optopt == VALUE_HELP || optopt == VALUE_LIST)
				pr_err("%.*s takes no value", (int)strcspn(argv[before], "="),
				       argv[before]);
			else
				say_unknown(&t, argv[before]);
			print_short_usage(row, usage);
			break;
		}
		if (value == ':') {
			pr_err("%s requires a value", shown_name(row, optopt >= LONG_BASE, buf));
			print_short_usage(row, usage);
			break;
		}
		if (set(row, ctx, optarg, value >= LONG_BASE && value & 1, value >= LONG_BASE)) {
			print_short_usage(row, usage);
			break;
		}
	}
	free_tables(&t);
	return ret;
}

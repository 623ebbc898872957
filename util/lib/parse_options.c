// SPDX-License-Identifier: GPL-2.0
#include "util/lib/parse_options.h"

#include "util/lib/msg.h"
#include "util/lib/program.h"
#include "util/lib/util.h"

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
 * getopt's values: letters, then options of every command, then --name and --no-name of each row.
 */
#define VALUE_HELP 1000
#define VALUE_LIST 1001
#define LONG_BASE  1024

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
	bool calls =
		row->kind == OPT_CALL || row->kind == OPT_CALL_OPT || row->kind == OPT_CALL_NONE;

	return !calls || row->cancel;
}

static bool has_name(const struct option_row *rows, const char *name)
{
	for (; !is_end(rows); rows++) {
		/* Each row asks for its "no-" name: the first letter settles nearly all of them. */
		if (rows->name && rows->name[0] == name[0] && !strcmp(rows->name, name))
			return true;
	}
	return false;
}

/* Return: the name that cancels a row, owned; NULL: none, if *err is 0. */
static char *negated_name(const struct option_row *rows, const struct option_row *row, int *err)
{
	char *name;

	if (!is_negatable(row))
		return NULL;
	name = strncmp(row->name, "no-", 3) ? xasprintf("no-%s", row->name) : strdup(row->name + 3);
	if (!name)
		*err = -ENOMEM;
	else if (has_name(rows, name))
		free_ptr(&name);
	return name;
}

struct getopt_tables {
	char letters[2 * MAX_ROWS + 8];
	struct option longs[2 * MAX_ROWS + 3]; /* --help, --list-opts, two per row, the end */
	char *negated[2 * MAX_ROWS];	       /* owned names */
	int nr_negated;
};

/* The values of variables before the options, by row. */
union initial {
	const char *text;
	unsigned int uint;
	int sint;
};

static void save_initial(const struct option_row *rows, const void *ctx, union initial *initial)
{
	for (; !is_end(rows); rows++, initial++) {
		const void *var = (const char *)ctx + rows->offset;

		if (rows->kind == OPT_STRING)
			initial->text = *(const char *const *)var;
		else if (rows->kind == OPT_UINT)
			initial->uint = *(const unsigned int *)var;
		else if (rows->kind == OPT_INT)
			initial->sint = *(const int *)var;
	}
}

static int make_tables(const struct option_row *rows, struct getopt_tables *t)
{
	char *letter = t->letters;
	struct option *opt = t->longs;

	memset(t, 0, sizeof(*t));
	*letter++ = '+'; /* stop at the first non-option: the command */
	*letter++ = ':'; /* tell a missing argument from an unknown option */
	*letter++ = 'h';
	*opt++ = (struct option){.name = "help", .val = VALUE_HELP};
	*opt++ = (struct option){.name = "list-opts", .val = VALUE_LIST};
	for (int i = 0; !is_end(&rows[i]); i++) {
		const struct option_row *row = &rows[i];
		char *name;
		int err = 0;

		if (row->letter) {
			*letter++ = row->letter;
			if (wants_arg(row))
				*letter++ = ':';
		}
		if (!row->name)
			continue;
		*opt++ = (struct option){
			.name = row->name,
			.has_arg = wants_arg(row)	     ? required_argument :
				   row->kind == OPT_CALL_OPT ? optional_argument :
							       no_argument,
			.val = LONG_BASE + 2 * i,
		};
		name = negated_name(rows, row, &err);
		if (err)
			return err;
		if (name) {
			t->negated[t->nr_negated++] = name;
			*opt++ = (struct option){.name = name, .val = LONG_BASE + 2 * i + 1};
		}
	}
	return 0;
}

static void free_tables(struct getopt_tables *t)
{
	while (t->nr_negated)
		free(t->negated[--t->nr_negated]);
}

/* Return: the option as typed. */
static const char *shown_name(const struct option_row *row, bool by_name, char buf[64])
{
	if (by_name)
		snprintf(buf, 64, "option `%s'", row->name);
	else
		snprintf(buf, 64, "switch `%c'", row->letter);
	return buf;
}

/* Parse decimal or 0x hex; leading zeros do not mean octal. */
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
		pr_err("%s expects a numerical value, not '%s'", shown_name(row, by_name, buf),
		       arg);
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

/* Undo a row's options so far. */
static int cancel(const struct option_row *row, void *ctx, const union initial *initial)
{
	void *var = (char *)ctx + row->offset;

	switch (row->kind) {
	case OPT_FLAG:
		*(bool *)var = false;
		return 0;
	case OPT_NEGATED:
		*(bool *)var = true;
		return 0;
	case OPT_COUNT:
		*(int *)var = 0;
		return 0;
	case OPT_BIT:
		*(unsigned int *)var &= ~row->bit;
		return 0;
	case OPT_STRING:
		*(const char **)var = initial->text;
		return 0;
	case OPT_UINT:
		*(unsigned int *)var = initial->uint;
		return 0;
	case OPT_INT:
		*(int *)var = initial->sint;
		return 0;
	case OPT_CALL:
	case OPT_CALL_OPT:
	case OPT_CALL_NONE:
		row->cancel(ctx);
		return 0;
	}
	return -EINVAL;
}

static int set(const struct option_row *row, void *ctx, const char *arg, bool by_name)
{
	void *var = (char *)ctx + row->offset;

	switch (row->kind) {
	case OPT_FLAG:
		*(bool *)var = true;
		return 0;
	case OPT_NEGATED:
		*(bool *)var = !by_name;
		return 0;
	case OPT_COUNT:
		++*(int *)var;
		return 0;
	case OPT_BIT:
		*(unsigned int *)var |= row->bit;
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
	char *renamed __cleanup(free_ptr) = program__rename(row->help);
	const char *help = renamed ? renamed : row->help;
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
		pr_text("    %-26s %s\n", head, help);
	else
		pr_text("    %s\n    %-26s %s\n", head, "", help);
}

static void print_synopsis(const char *usage)
{
	char *lines __cleanup(free_ptr) = program__rename(usage);

	pr_text("\n Usage: ");
	pr_lines(lines ? lines : usage);
}

void parse_options__usage(const struct option_row *rows, const char *usage)
{
	print_synopsis(usage);
	pr_text("\n\n");
	for (; !is_end(rows); rows++) {
		if (rows->help)
			print_row(rows);
	}
	pr_text("\n");
}

/* Print only a hint after an error. */
static void print_short_usage(const struct option_row *row, const char *usage)
{
	print_synopsis(usage);
	pr_text("\n");
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

/* Return: "--a or --b" if @name abbreviates several options, otherwise NULL. */
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

static void report_unknown(const struct getopt_tables *t, const char *arg)
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

/* Return: the row that getopt found, or complains about; NULL: none. */
static const struct option_row *row_of(const struct option_row *rows, int value)
{
	return value >= LONG_BASE ? &rows[(value - LONG_BASE) / 2] : find_letter(rows, value);
}

int parse_options__parse(const struct option_row *rows, const char *usage, void *ctx, int argc,
			 char **argv)
{
	const struct option_row *row;
	struct getopt_tables t;
	union initial initial[MAX_ROWS];
	int ret = -OPTIONS_USAGE_STATUS;

	save_initial(rows, ctx, initial);
	if (make_tables(rows, &t)) {
		pr_err("out of memory");
		free_tables(&t);
		return -OPTIONS_FAILED_STATUS;
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
			parse_options__usage(rows, usage);
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
				report_unknown(&t, argv[before]);
			print_short_usage(row, usage);
			break;
		}
		if (value == ':') {
			pr_err("%s requires a value", shown_name(row, optopt >= LONG_BASE, buf));
			print_short_usage(row, usage);
			break;
		}
		if (value >= LONG_BASE && value & 1 ? cancel(row, ctx, &initial[row - rows]) :
						      set(row, ctx, optarg, value >= LONG_BASE)) {
			print_short_usage(row, usage);
			break;
		}
	}
	free_tables(&t);
	return ret;
}

bool parse_options__knows(const struct option_row *rows, int argc, char **argv,
			  bool (*takes)(const struct option_row *row, const char *arg))
{
	struct getopt_tables t;
	bool is_known = !make_tables(rows, &t);
	int value = 0;

	opterr = 0;
	optind = 0;
	while (is_known && (value = getopt_long(argc, argv, t.letters, t.longs, NULL)) != -1) {
		const struct option_row *row;

		if (value == '?' || value == VALUE_HELP || value == 'h' || value == VALUE_LIST) {
			is_known = value != '?';
			break;
		}
		row = row_of(rows, value);
		if (optarg && row && takes)
			is_known = takes(row, optarg);
	}
	free_tables(&t);
	return is_known;
}

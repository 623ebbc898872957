/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_OPTIONS_H
#define PERF_UTIL_OPTIONS_H

#include <stddef.h>

/* Command-line options as a table: the parser and the help read the same rows. */

enum option_kind {
	OPT_FLAG,	/* bool; also as --no-NAME */
	OPT_NEGATED,	/* bool that is set by --no-NAME and by the short letter, cleared by --NAME */
	OPT_COUNT,	/* int, one more each time; --no-NAME: 0 */
	OPT_STRING,	/* const char *, the last one wins */
	OPT_UINT,	/* unsigned int */
	OPT_INT,	/* int, may be negative */
	OPT_CALL,	/* call(), argument required */
	OPT_CALL_OPT,	/* call(), argument optional (--name=ARG): NULL when absent */
	OPT_CALL_NONE,	/* call(), no argument */
};

struct option_row {
	int letter;		/* 0: none */
	const char *name;	/* long name, NULL: none */
	enum option_kind kind;
	size_t offset;		/* of the variable in the context */
	/* call() - 0, or -EINVAL after a message */
	int (*call)(void *ctx, const char *arg);
	const char *arg;	/* what the argument is, for the help */
	const char *help;
};

#define OPTIONS_USAGE_STATUS 129	/* wrong usage, and -h */
#define OPTIONS_LIST_STATUS 130		/* --list-opts */

/**
 * options__parse() - read the options before the first argument that is none
 * @rows: table, ended by a row without letter and name
 * @usage: the lines under "Usage:"
 * @ctx: what the rows' offsets and calls refer to
 *
 * Every command has -h, --help and --list-opts besides its rows. Errors and help go to stderr, the
 * list to stdout. Return: the index of the first argument, or the negative exit status.
 */
int options__parse(const struct option_row *rows, const char *usage, void *ctx, int argc,
		   char **argv);

/** options__usage() - write usage and options to stderr */
void options__usage(const struct option_row *rows, const char *usage);

#endif

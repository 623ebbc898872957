/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_PARSE_OPTIONS_H
#define PERF_LIB_PARSE_OPTIONS_H

/* Command-line options as a table for parser and help. */

#include <stdbool.h>
#include <stddef.h>

enum option_kind {
	OPT_FLAG,    /* bool; also as --no-NAME */
	OPT_NEGATED, /* bool that is set by --no-NAME and by the short letter, cleared by --NAME */
	OPT_COUNT,   /* int, one more each time; --no-NAME: 0 */
	OPT_BIT,     /* unsigned int, gets the row's bit; --no-NAME: loses it */
	OPT_STRING,  /* const char *, the last one wins; --no-NAME: as before the options */
	OPT_UINT,    /* unsigned int; --no-NAME: as before the options */
	OPT_INT,     /* the same for an int, may be negative */
	OPT_CALL, /* call(), argument required; these three have a --no-NAME if they have cancel() */
	OPT_CALL_OPT,  /* call(), argument optional (--name=ARG): NULL when absent */
	OPT_CALL_NONE, /* call(), no argument */
};

/* An option cancels those of its name before it as --no-NAME, or as --NAME if it is called no-NAME. */
struct option_row {
	int letter;	  /* 0: none */
	const char *name; /* long name, NULL: none */
	enum option_kind kind;
	size_t offset; /* of the variable in the context */
	/* call() - 0, or -EINVAL after a message */
	int (*call)(void *ctx, const char *arg);
	const char *arg; /* name of the argument in the help */
	const char *help;
	unsigned int bit; /* of OPT_BIT */
	/* of --no-NAME; NULL: there is none, for the three kinds with a call() */
	void (*cancel)(void *ctx);
};

#define OPTIONS_FAILED_STATUS 1	  /* out of memory */
#define OPTIONS_USAGE_STATUS  129 /* wrong usage, and -h */
#define OPTIONS_LIST_STATUS   130 /* --list-opts */

/**
 * parse_options__parse() - parse options up to the first other argument
 * @rows: table, ended by a row without letter and name
 * @usage: the lines after "Usage:". program__rename() puts the name of the program into them
 *	and into the help of the rows
 * @ctx: the object that the rows' offsets and calls refer to
 *
 * Every command also has -h, --help and --list-opts. Errors and help go to stderr, the
 * list to stdout. Return: the index of the first argument, or the negative exit status.
 */
int parse_options__parse(const struct option_row *rows, const char *usage, void *ctx, int argc,
			 char **argv);

/**
 * parse_options__knows() - whether all options are in the table, without any effect or message
 * @takes: whether an option takes this value; NULL: all do
 *
 * Options without a value that they need are known. Abbreviations of several names are not.
 */
bool parse_options__knows(const struct option_row *rows, int argc, char **argv,
			  bool (*takes)(const struct option_row *row, const char *arg));

/** parse_options__usage() - write usage and options to stderr */
void parse_options__usage(const struct option_row *rows, const char *usage);

#endif

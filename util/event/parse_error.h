/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_PARSE_ERROR_H
#define PERF_EVENT_PARSE_ERROR_H

/* The reason and place of an error in a list of events. */

/* All strings are owned. */
struct parse_error {
	char *text;	  /* the whole text */
	int column;	  /* of the problem, from 0 */
	char *reason;	  /* printed behind the mark, e.g. "Bad event name" */
	char *help;	  /* more lines, or NULL */
	char *suggestion; /* the nearest known name, or NULL */
};

/** parse_error__print() - print an error in the reference's layout */
void parse_error__print(const struct parse_error *err);
void parse_error__clear(struct parse_error *err);

/**
 * parse_error__format() - the text that parse_error__print() prints
 * @columns: width of the terminal
 *
 * Return: owned by the caller; NULL with errno ENOMEM.
 */
char *parse_error__format(const struct parse_error *err, int columns);

/**
 * parse_error__set() - set column and reason, unless an earlier error is recorded
 * @reason: passes to @err, also if not recorded; NULL: memory ran out
 * @help: passes to @err; NULL: none
 *
 * Return: -EINVAL, or -ENOMEM without @reason.
 */
int parse_error__set(struct parse_error *err, int column, char *reason, char *help);

#endif

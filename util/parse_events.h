/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_PARSE_EVENTS_H
#define PERF_UTIL_PARSE_EVENTS_H

#include <stdbool.h>

struct evlist;
struct pmus;

/* Why and where a text is no event list; strings are owned. */
struct parse_error {
	char *text;		/* the whole string that was parsed */
	int column;		/* of the problem, from 0 */
	char *reason;		/* behind the mark, e.g. "Bad event name" */
	char *help;		/* more lines, or NULL */
	char *suggestion;	/* the nearest known name, or NULL */
};

/* How to read an event list; all zero by default. */
struct parse_events_options {
	bool hybrid_merge;	/* --hybrid-merge: sum core PMUs into one row of the name as typed */
	bool quiet;		/* no warnings: the list was not typed by the user */
	const char *const *metric_ids;	/* of the events in the text, in turn; NULL: none have one */
};

/**
 * parse_events() - append the events of a list such as "cycles:b,{a,b}:W,pmu/term=1/" to an evlist
 * @list: receives the events in order; unchanged on error
 * @pmus: the machine's PMUs
 * @text: the argument of one -e
 * @err: filled on error; released by parse_error__clear()
 *
 * Return: 0; -EINVAL with @err filled; -ENOMEM.
 */
int parse_events(struct evlist *list, struct pmus *pmus, const char *text,
		 struct parse_error *err);

/** parse_events_opts() - the same with options; @options may be NULL */
int parse_events_opts(struct evlist *list, struct pmus *pmus, const char *text,
		      const struct parse_events_options *options, struct parse_error *err);

/** parse_events__is_known() - whether a text could be parsed, for has_event() of metrics */
bool parse_events__is_known(struct pmus *pmus, const char *text);

/** parse_error__print() - write it to stderr in the reference's layout */
void parse_error__print(const struct parse_error *err);
void parse_error__clear(struct parse_error *err);

/**
 * parse_error__format() - the text that parse_error__print() writes
 * @columns: width of the terminal
 *
 * Return: owned by the caller; NULL with errno ENOMEM.
 */
char *parse_error__format(const struct parse_error *err, int columns);

/**
 * parse_error__set() - fill in column and reason, unless an earlier problem is recorded
 * @reason: owned by @err from now on, also when it is not recorded; NULL: memory ran out
 * @help: the same, NULL: none
 *
 * Return: -EINVAL, or -ENOMEM without @reason.
 */
int parse_error__set(struct parse_error *err, int column, char *reason, char *help);

#endif

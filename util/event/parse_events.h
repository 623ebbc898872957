/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_PARSE_EVENTS_H
#define PERF_EVENT_PARSE_EVENTS_H

/* The text of -e, parsed into a list of events. */

#include "util/event/parse_error.h"

#include <stdbool.h>

struct evlist;
struct pmus;

/* How to read an event list; all zero by default. */
struct parse_events_options {
	bool hybrid_merge; /* --hybrid-merge: sum core PMUs into one row of the name as typed */
	bool quiet;	   /* no warnings: the user did not type the text */
	const char *const *metric_ids; /* of the events in the text, in order; NULL: none */
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
int parse_events(struct evlist *list, struct pmus *pmus, const char *text, struct parse_error *err);

/** parse_events_opts() - parse_events() with options; @options may be NULL */
int parse_events_opts(struct evlist *list, struct pmus *pmus, const char *text,
		      const struct parse_events_options *options, struct parse_error *err);

/** parse_events__is_known() - whether a text can be parsed, as for has_event() of metrics */
bool parse_events__is_known(struct pmus *pmus, const char *text);

#endif

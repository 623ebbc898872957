/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_EVENT_CREATE_H
#define PERF_UTIL_EVENT_CREATE_H

/* From one event specification, taken apart by the parser, to the evsels it means. */

#include "event_terms.h"

struct evlist;
struct parse_events_options;

enum event_form {
	EVENT_NAME,		/* cycles */
	EVENT_SLASHES,		/* PMU/terms/ or EVENT/terms/ */
	EVENT_NUMERIC,		/* TYPE:CONFIG */
	EVENT_BREAKPOINT,	/* mem:ADDR/LEN:rwx */
	EVENT_TRACEPOINT,	/* SUBSYS:NAME */
};

/* One specification; what is used depends on the form. Strings and terms are owned. */
struct event_spec {
	enum event_form form;
	char *text;			/* all of it as typed, modifiers included */
	int column;			/* of the text in the whole, for errors */
	char *word;			/* event or PMU; subsystem */
	char *tracepoint;
	struct event_terms terms;
	struct perf_event_attr attr;	/* numeric, breakpoint */
};

struct event_creation {
	struct evlist *list;		/* receives the events */
	struct pmus *pmus;
	const struct parse_events_options *options;
	struct parse_error *err;
};

void event_spec__clear(struct event_spec *spec);

/**
 * event_spec__create() - append the events that a specification means, each standing alone
 *
 * Return: 0 with at least one event added; -EINVAL with the error filled; -ENOMEM. After errors
 * the list may hold some of the events.
 */
int event_spec__create(struct event_spec *spec, struct event_creation *c);

/** event_create__named() - append the event @name of one PMU; as above */
int event_create__named(struct event_creation *c, const struct pmu *pmu, const char *name);

#endif

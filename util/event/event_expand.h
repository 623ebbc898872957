/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_EVENT_EXPAND_H
#define PERF_EVENT_EVENT_EXPAND_H

/* A parsed event specification, expanded to its evsels. */

#include "util/event/event_terms.h"

#include <linux/perf_event.h>

struct evlist;
struct parse_error;
struct pmu;
struct pmus;

enum event_form {
	EVENT_NAME,	  /* cycles */
	EVENT_SLASHES,	  /* PMU/terms/ or EVENT/terms/ */
	EVENT_NUMERIC,	  /* TYPE:CONFIG */
	EVENT_BREAKPOINT, /* mem:ADDR/LEN:rwx */
	EVENT_TRACEPOINT, /* SUBSYS:NAME */
};

/* One specification. The form decides which members are used. Strings and terms are owned. */
struct event_spec {
	enum event_form form;
	char *text; /* all of it as typed, modifiers included */
	int column; /* of the text in the whole, for errors */
	char *word; /* event or PMU; subsystem */
	char *tracepoint;
	struct event_terms terms;
	struct perf_event_attr attr; /* numeric, breakpoint */
	bool is_missing; /* set when there is no such tracepoint, or it cannot be read */
};

struct event_expansion {
	struct evlist *list; /* receives the events */
	struct pmus *pmus;
	bool hybrid_merge; /* sum core PMUs into one row of the name as typed */
	bool quiet;	   /* no warnings */
	struct parse_error *err;
};

void event_spec__clear(struct event_spec *spec);

/**
 * event_spec__create() - append the events of a specification, ungrouped
 *
 * Return: 0 with at least one event added; -EINVAL with the error filled; -ENOMEM. After errors
 * the list may hold some of the events.
 */
int event_spec__create(struct event_spec *spec, struct event_expansion *c);

/** event_expand__named() - append the event @name of one PMU; returns the same */
int event_expand__named(struct event_expansion *c, const struct pmu *pmu, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_LIST_H
#define PERF_UTIL_LIST_H

/* perf list: what the sections of the list have in common, and the larger of them. */

#include <stdbool.h>
#include <stdio.h>

struct definitions;
struct event_name;
struct pmu;
struct pmus;

/* One line of the list; all but name and type may be NULL. */
struct list_row {
	const char *name;
	const char *alias;
	const char *raw;		/* for --raw-dump, when it is not name and alias */
	const char *type;		/* in brackets */
	const char *json_type;
	const char *pmu;
	const char *topic;
	const char *scale_unit;
	const char *desc;
	const char *long_desc;
	bool is_deprecated;
	const char *encoding;
};

/* How to list, and what has been listed so far. */
struct lister {
	FILE *out;
	struct pmus *pmus;
	struct definitions *defs;
	bool raw, json, desc, instances, details, deprecated;
	const char *unit;		/* --unit, or NULL */
	const char *glob;		/* pattern rows must match, or NULL */
	bool any;			/* a row has been printed */
	bool failed;			/* a section could not be listed */
	bool headed;			/* the heading of metrics has been printed */
};

/** list__object() - one JSON object of the members that have a value; @members ends with a NULL key */
void list__object(struct lister *l, const char *const members[][2]);

/** list__matches() - whether a text is among what is asked for; NULL never is */
bool list__matches(const struct lister *l, const char *text);

/** list__has_unit() - whether --unit asks for the events of @pmu, or without one of that name */
bool list__has_unit(const struct lister *l, const struct pmu *pmu, const char *name);

/** list__details() - the lines below a name: what it is, and what it stands for; each may be NULL */
void list__details(const struct lister *l, const char *desc, const char *encoding);

/** list__row() - print one line or object, if it is asked for */
void list__row(struct lister *l, const struct list_row *row);

/** list__hw(), list__cache() - those generic events that this machine can open */
void list__hw(struct lister *l);
void list__cache(struct lister *l);

/** list__table() - software and tool events: the tables that stand for their PMUs */
void list__table(struct lister *l, const char *pmu, const struct event_name *event,
		 const char *type);

/** list__pmus() - the named events of all other PMUs */
void list__pmus(struct lister *l);

/** list__metrics(), list__metricgroups() - what -M takes */
void list__metrics(struct lister *l);
void list__metricgroups(struct lister *l);

#endif

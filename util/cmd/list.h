/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_CMD_LIST_H
#define PERF_CMD_LIST_H

/* The rows of perf list, and their printing. */

#include <stdbool.h>
#include <stdio.h>

struct definitions;
struct pmu;
struct pmus;

/* One line of the list; all but name and type may be NULL. */
struct list_row {
	const char *name;
	const char *alias;
	const char *raw;  /* for --raw-dump, when it is not name and alias */
	const char *type; /* in brackets; NULL: none */
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
	const char *unit; /* --unit, or NULL */
	const char *glob; /* pattern rows must match, or NULL */
	bool any;	  /* a row has been printed */
	unsigned int nr;  /* rows and groups printed */
	bool failed;	  /* a section could not be listed */
	bool headed;	  /* the heading of metrics has been printed */
	char *topic;	  /* of the last row, released by list__clear(); NULL: none */
	int columns;	  /* of the terminal, for descriptions */
};

/** list__object() - print a JSON object of members that have a value; @members ends with a NULL key */
void list__object(struct lister *l, const char *const members[][2]);

/** list__matches() - whether the user asked for a text like this; false for NULL */
bool list__matches(const struct lister *l, const char *text);

/** list__has_unit() - whether --unit allows the events of @pmu, or of @name if @pmu is NULL */
bool list__has_unit(const struct lister *l, const struct pmu *pmu, const char *name);

/** list__text() - print a name or description, escaped, between two fixed texts */
void list__text(const struct lister *l, const char *before, const char *text, const char *after);

/** list__details() - print the lines below a name: description and encoding; each may be NULL */
void list__details(const struct lister *l, const char *desc, const char *encoding);

/** list__wrap() - print words from column 8 on, in lines that fit the terminal */
void list__wrap(const struct lister *l, const char *before, const char *text, const char *after);

/** list__clear() - release the topic */
void list__clear(struct lister *l);

/** list__row() - print one line or object, if the user asked for it */
void list__row(struct lister *l, const struct list_row *row);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_EVENT_TERMS_H
#define PERF_EVENT_EVENT_TERMS_H

/* The terms between slashes, as in cpu/event=0x3c,name=x/. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct parse_error;

struct event_term {
	char *name;
	char *value;		  /* NULL: none */
	bool is_driver;		  /* @name */
	int column, value_column; /* in the text being parsed */
};

struct event_terms {
	struct event_term *terms;
	int nr;
};

/**
 * event_terms__parse() - parse a comma-separated list of terms up to @end
 * @text: the first term, or the end
 * @column: of @text in the whole, for errors; -1: report all errors at column 0
 * @end: '/' or '\0'
 * @terms: receives them; released by event_terms__clear(), also after errors
 * @len: receives the number of characters read, without @end
 *
 * Return: 0, -EINVAL with @err filled, or -ENOMEM.
 */
int event_terms__parse(const char *text, int column, char end, struct event_terms *terms,
		       size_t *len, struct parse_error *err);
void event_terms__clear(struct event_terms *terms);

/** event_terms__add() - append a term without value; 0 or -ENOMEM */
int event_terms__add(struct event_terms *terms, const char *name, int column);

/**
 * event_number__parse() - parse a decimal number, also with leading zeros, or 0x and hex
 *
 * Return: 0, -EINVAL (not a number), -ERANGE (more than 64 bits).
 */
int event_number__parse(const char *text, uint64_t *value);

/** event_raw__parse() - parse "rHEX" with 1 to 16 digits; with @prefix also "r0xHEX" */
int event_raw__parse(const char *text, bool prefix, uint64_t *value);

/** event_char__is_name() - whether names may contain a character; in terms also ':' */
bool event_char__is_name(char c, bool in_terms);

#endif

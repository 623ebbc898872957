/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_MODIFIERS_H
#define PERF_EVENT_MODIFIERS_H

/* Modifiers of an event or group, as in cycles:u and {a,b}:W. */

#include <stdbool.h>
#include <stddef.h>

struct evsel;

#define MODIFIERS_MAX_PRECISE 3

struct modifiers {
	unsigned int set; /* of enum modifier in modifiers.c */
	int precise;	  /* number of p, 0..3 */
};

/**
 * modifiers__parse() - parse letters up to another character
 * @text: the first letter
 * @in_group: these follow a '}'; only there W is allowed
 * @mods: receives them
 * @len: receives the number of characters, on error the position of the bad one
 * @reason: receives the text of an error, owned by the caller; NULL without memory
 *
 * Return: 0 or -EINVAL.
 */
int modifiers__parse(const char *text, bool in_group, struct modifiers *mods, size_t *len,
		     char **reason);

/** modifiers__is_word() - whether all @len characters are modifier letters; true for none */
bool modifiers__is_word(const char *word, size_t len);

/** modifiers__is_weak() - whether W is among them */
bool modifiers__is_weak(const struct modifiers *mods);

/** modifiers__precise() - the sum of both levels, which may exceed the maximum */
int modifiers__precise(const struct modifiers *own, const struct modifiers *group);

/**
 * modifiers__apply() - apply an event's modifiers and those of its group, if any
 * @own: the event's
 * @group: the group's, NULL without one. Levels, also precise ones, add to the event's own; pinned
 *         and exclusive only apply to the leader
 * @leads: whether the event is the first of the group
 */
void modifiers__apply(struct evsel *evsel, const struct modifiers *own,
		      const struct modifiers *group, bool leads);

/* One line with all modifiers. */
extern const char modifiers_help[];

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_MODIFIERS_H
#define PERF_UTIL_MODIFIERS_H

/* The letters behind an event or a group, as in cycles:u and {a,b}:W. */

#include <stdbool.h>
#include <stddef.h>

struct evsel;

#define MODIFIERS_MAX_PRECISE 3

struct modifiers {
	unsigned int set;	/* of enum modifier in modifiers.c */
	int precise;		/* number of p, 0..3 */
};

/**
 * modifiers__parse() - read letters until something else comes
 * @text: the first letter
 * @in_group: these follow a '}'; only there W is allowed
 * @mods: receives them
 * @len: receives how many characters belong to them, on error the position of the bad one
 * @reason: receives why they are no modifiers, owned by the caller; NULL without memory
 *
 * Return: 0 or -EINVAL.
 */
int modifiers__parse(const char *text, bool in_group, struct modifiers *mods, size_t *len,
		     char **reason);

/** modifiers__is_word() - whether all @len characters are modifier letters; true for none */
bool modifiers__is_word(const char *word, size_t len);

/** modifiers__is_weak() - whether W is among them */
bool modifiers__is_weak(const struct modifiers *mods);

/** modifiers__precise() - the level that both ask for; above the highest the user is wrong */
int modifiers__precise(const struct modifiers *own, const struct modifiers *group);

/**
 * modifiers__apply() - give an event its own modifiers and those of its group, if any
 * @own: what follows the event
 * @group: what follows the group, NULL without one. Levels, precise ones too, add to the event's
 *         own; pinned and exclusive are for the group's leader alone
 * @leads: whether the event is the first of the group
 */
void modifiers__apply(struct evsel *evsel, const struct modifiers *own,
		      const struct modifiers *group, bool leads);

/* One line that lists them. */
extern const char modifiers_help[];

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_SORT_KEYS_H
#define PERF_PROFILE_SORT_KEYS_H

/* The columns that tell the rows of a profile apart, from -s. */

#include <stdbool.h>
#include <stdint.h>

enum sort_key {
	SORT_COMM,
	SORT_PID,
	SORT_TID,
	SORT_CPU,
	SORT_CGROUP,
	SORT_PRIO,
	SORT_DSO,
	SORT_SYM,
	SORT_IP,
	SORT_PAGE,
	SORT_DATA,
	SORT_SRCLINE,
	NR_SORT_KEYS
};

/* In the order of the list; each key at most once. */
struct sort_keys {
	enum sort_key keys[NR_SORT_KEYS];
	int nr;
};

/**
 * sort_keys__parse() - read a list such as "comm,dso,sym"
 *
 * Return: 0 or -EINVAL after a message.
 */
int sort_keys__parse(struct sort_keys *keys, const char *list);

/** sort_keys__are_known() - whether sort_keys__parse() takes a list; without a message */
bool sort_keys__are_known(const char *list);

/** sort_keys__has() - whether a key is in the list */
bool sort_keys__has(const struct sort_keys *keys, enum sort_key key);

/** sort_keys__add_last() - put a key after all others, unless it is there */
void sort_keys__add_last(struct sort_keys *keys, enum sort_key key);

/** sort_keys__add_first() - put a key before all others, unless it is there */
void sort_keys__add_first(struct sort_keys *keys, enum sort_key key);

/** sort_keys__sample_key() - the parts of the sampler's key (SAMPLE_*) that the list needs */
uint32_t sort_keys__sample_key(const struct sort_keys *keys);

/** sort_key__title() - the heading of the column */
const char *sort_key__title(enum sort_key key);

/** sort_key__name() - the name in -s, JSON and CSV */
const char *sort_key__name(enum sort_key key);

/** sort_key__is_number() - whether its values are numbers */
bool sort_key__is_number(enum sort_key key);

/** sort_key__has_place() - whether its values are about the sampled instruction */
bool sort_key__has_place(enum sort_key key);

/** sort_key__has_level() - whether its values are printed with a mark of their level */
bool sort_key__has_level(enum sort_key key);

#endif

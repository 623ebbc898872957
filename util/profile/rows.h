/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_ROWS_H
#define PERF_PROFILE_ROWS_H

/* The rows of a profile: samples summed up by the keys of -s, heaviest first. */

#include "util/profile/call_tree.h"
#include "util/profile/profile_options.h"

#include <stdbool.h>
#include <stdint.h>

struct samples;

/* The value of one sort key. */
struct row_value {
	const char *text; /* borrowed from symbols, samples or options; NULL: a number */
	int64_t number; /* with a text: the position behind it, of SORT_IP, SORT_PAGE and SORT_SRCLINE */
	bool is_kernel;	 /* of keys that have a place */
	bool is_missing; /* there is no such thing: a sample without a place */
};

struct row {
	struct row_value values[NR_SORT_KEYS]; /* in the order of options->sort */
	uint64_t nr, weight;		       /* in the function itself */
	uint64_t all_nr, all_weight; /* also in what it called; without children as above */
	struct call_tree tree;	     /* VIEW_TREE */
};

struct rows {
	struct row *rows;
	int nr;
	uint64_t nr_samples, weight; /* of all rows */
};

/**
 * rows__make() - make the rows of one event
 * @samples: symbols__resolve() was called after the last samples__add()
 * @rows: released by rows__clear(), in any case
 *
 * Return: 0 or -ENOMEM.
 */
int rows__make(struct rows *rows, const struct samples *samples,
	       const struct profile_options *options, int event);
void rows__clear(struct rows *rows);

/** rows__sort_weight() - the weight that decides the order: with or without children */
uint64_t rows__sort_weight(const struct row *row, const struct profile_options *options);

/** rows__percent() - a weight in percent of all rows */
double rows__percent(const struct rows *rows, uint64_t weight);

#endif

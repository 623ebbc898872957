/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_NESTED_RANGES_H
#define PERF_SYMBOL_NESTED_RANGES_H

/* Ranges of addresses that lie in each other, such as those of inlined functions. */

#include <stdint.h>

struct nested_range {
	uint64_t start, end; /* without the end */
	int owner;	     /* the caller's number */
	int outer;	     /* the range around it, after nested_ranges__sort(); -1: none */
};

/* All zero: empty. free() releases @ranges. */
struct nested_ranges {
	struct nested_range *ranges;
	int nr;
};

/**
 * nested_ranges__add() - add a range that is not empty
 * @owner: from 0 on; of equal ranges the one with the larger owner is the inner one
 *
 * Return: 0 or -ENOMEM.
 */
int nested_ranges__add(struct nested_ranges *set, uint64_t start, uint64_t end, int owner);

/** nested_ranges__sort() - make the set ready for nested_ranges__find() */
void nested_ranges__sort(struct nested_ranges *set);

/** nested_ranges__find() - the owner of the innermost range with an address; -1: none */
int nested_ranges__find(const struct nested_ranges *set, uint64_t address);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_ADDRESS_RANGES_H
#define PERF_LIB_ADDRESS_RANGES_H

/* A set of ranges of addresses. */

#include <stdbool.h>
#include <stdint.h>

struct address_range {
	uint64_t start, end; /* without the end */
};

/* All zero: empty. */
struct address_ranges {
	struct address_range
		*ranges; /* sorted, and apart from each other, after address_ranges__sort() */
	int nr;
};

/** address_ranges__add() - add a range; an empty one is ignored. Return: 0 or -ENOMEM */
int address_ranges__add(struct address_ranges *ranges, uint64_t start, uint64_t end);

/** address_ranges__sort() - sort the ranges, and merge those that touch */
void address_ranges__sort(struct address_ranges *ranges);

/** address_ranges__has() - whether an address is in one of the sorted ranges */
bool address_ranges__has(const struct address_ranges *ranges, uint64_t address);

void address_ranges__clear(struct address_ranges *ranges);

#endif

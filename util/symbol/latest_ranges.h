/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_LATEST_RANGES_H
#define PERF_SYMBOL_LATEST_RANGES_H

/* Ranges of addresses of which later ones replace earlier ones, such as those of functions of JIT compilers. */

#include <stdint.h>

struct latest_range {
	uint64_t start, end; /* without the end */
	int owner;	     /* the caller's number */
};

/* A part of a range that no later range overlaps. */
struct latest_part {
	uint64_t start, end;
	int range; /* its position */
};

/* All zero: empty. */
struct latest_ranges {
	struct latest_range *ranges; /* in the order of latest_ranges__add() */
	struct latest_part *parts;   /* sorted, after latest_ranges__sort() */
	int nr, nr_parts;
};

/** latest_ranges__add() - add a range, unless its end is not behind its start; 0 or -ENOMEM */
int latest_ranges__add(struct latest_ranges *set, uint64_t start, uint64_t end, int owner);

/** latest_ranges__sort() - make the set ready for latest_ranges__find(), once; 0 or -ENOMEM */
int latest_ranges__sort(struct latest_ranges *set);

/** latest_ranges__find() - the part of the latest range with an address, borrowed; NULL: none */
const struct latest_part *latest_ranges__find(const struct latest_ranges *set, uint64_t address);

void latest_ranges__clear(struct latest_ranges *set);

#endif

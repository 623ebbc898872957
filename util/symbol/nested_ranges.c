// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/nested_ranges.h"

#include "util/lib/array.h"
#include "util/lib/sorted.h"

#include <errno.h>

int nested_ranges__add(struct nested_ranges *set, uint64_t start, uint64_t end, int owner)
{
	struct nested_range *range;

	if (end <= start)
		return 0;
	range = array__add(set->ranges, set->nr);
	if (!range)
		return -ENOMEM;
	*range = (struct nested_range){.start = start, .end = end, .owner = owner, .outer = -1};
	return 0;
}

/* A range comes after those around it. */
static int compare(const void *a, const void *b)
{
	const struct nested_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->owner < y->owner ? -1 : x->owner > y->owner;
}

void nested_ranges__sort(struct nested_ranges *set)
{
	int outer = -1;

	if (set->nr)
		qsort(set->ranges, set->nr, sizeof(*set->ranges), compare);
	for (int i = 0; i < set->nr; i++) {
		while (outer >= 0 && set->ranges[outer].end <= set->ranges[i].start)
			outer = set->ranges[outer].outer;
		set->ranges[i].outer = outer;
		outer = i;
	}
}

/* Return: the last range that starts at or before an address; -1: none */
static int last_before(const struct nested_ranges *set, uint64_t address)
{
	return (int)array__nr_up_to(set->ranges, set->nr, start, address) - 1;
}

int nested_ranges__find(const struct nested_ranges *set, uint64_t address)
{
	int at = last_before(set, address);

	while (at >= 0 && set->ranges[at].end <= address)
		at = set->ranges[at].outer;
	return at < 0 ? -1 : set->ranges[at].owner;
}

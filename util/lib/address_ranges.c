// SPDX-License-Identifier: GPL-2.0
#include "util/lib/address_ranges.h"

#include "util/lib/array.h"
#include "util/lib/sorted.h"

#include <errno.h>

int address_ranges__add(struct address_ranges *ranges, uint64_t start, uint64_t end)
{
	struct address_range *range;

	if (start >= end)
		return 0;
	range = array__add(ranges->ranges, ranges->nr);
	if (!range)
		return -ENOMEM;
	*range = (struct address_range){start, end};
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct address_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

void address_ranges__sort(struct address_ranges *ranges)
{
	int nr = 0;

	if (ranges->nr)
		qsort(ranges->ranges, ranges->nr, sizeof(*ranges->ranges), compare);
	for (int i = 0; i < ranges->nr; i++) {
		struct address_range *range = &ranges->ranges[i];
		struct address_range *last = nr ? &ranges->ranges[nr - 1] : NULL;

		if (!last || last->end < range->start)
			ranges->ranges[nr++] = *range;
		else if (last->end < range->end)
			last->end = range->end;
	}
	ranges->nr = nr;
}

bool address_ranges__has(const struct address_ranges *ranges, uint64_t address)
{
	int at = (int)array__nr_up_to(ranges->ranges, ranges->nr, end, address);

	return at < ranges->nr && ranges->ranges[at].start <= address;
}

void address_ranges__clear(struct address_ranges *ranges)
{
	free(ranges->ranges);
	*ranges = (struct address_ranges){};
}

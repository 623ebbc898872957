// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/latest_ranges.h"

#include "util/lib/array.h"
#include "util/lib/sorted.h"
#include "util/lib/util.h"
#include "util/symbol/life_sign.h"

#include <errno.h>
#include <stdlib.h>

int latest_ranges__add(struct latest_ranges *set, uint64_t start, uint64_t end, int owner)
{
	struct latest_range *range;

	if (end <= start)
		return 0;
	range = array__add(set->ranges, set->nr);
	if (!range)
		return -ENOMEM;
	*range = (struct latest_range){start, end, owner};
	return 0;
}

/* The ranges around an address while it moves up. */
struct sweep {
	int *heap; /* the latest range first */
	int nr;
};

static void push(struct sweep *sweep, int range)
{
	int at = sweep->nr++;

	for (; at && sweep->heap[(at - 1) / 2] < range; at = (at - 1) / 2)
		sweep->heap[at] = sweep->heap[(at - 1) / 2];
	sweep->heap[at] = range;
}

static void pop(struct sweep *sweep)
{
	int range = sweep->heap[--sweep->nr], at = 0;

	for (int child = 1; child < sweep->nr; child = 2 * at + 1) {
		if (child + 1 < sweep->nr && sweep->heap[child + 1] > sweep->heap[child])
			child++;
		if (sweep->heap[child] < range)
			break;
		sweep->heap[at] = sweep->heap[child];
		at = child;
	}
	sweep->heap[at] = range;
}

static int add_part(struct latest_ranges *set, uint64_t start, uint64_t end, int range)
{
	struct latest_part *part = set->nr_parts ? &set->parts[set->nr_parts - 1] : NULL;

	if (part && part->range == range && part->end == start) {
		part->end = end;
		return 0;
	}
	part = array__add(set->parts, set->nr_parts);
	if (!part)
		return -ENOMEM;
	*part = (struct latest_part){start, end, range};
	return 0;
}

static int compare_starts(const void *a, const void *b, void *ranges)
{
	uint64_t x = ((struct latest_range *)ranges)[*(const int *)a].start;
	uint64_t y = ((struct latest_range *)ranges)[*(const int *)b].start;

	return x < y ? -1 : x > y;
}

static int sweep_up(struct latest_ranges *set, const int *order, struct sweep *sweep)
{
	const struct latest_range *ranges = set->ranges;
	int next = 0, err = 0;
	uint64_t at = 0;

	while (!err && (next < set->nr || sweep->nr)) {
		uint64_t end;

		life_sign__show();
		if (!sweep->nr && ranges[order[next]].start > at)
			at = ranges[order[next]].start;
		while (next < set->nr && ranges[order[next]].start <= at)
			push(sweep, order[next++]);
		end = ranges[sweep->heap[0]].end;
		if (end <= at) {
			pop(sweep);
			continue;
		}
		if (next < set->nr && ranges[order[next]].start < end)
			end = ranges[order[next]].start;
		err = add_part(set, at, end, sweep->heap[0]);
		at = end;
	}
	return err;
}

int latest_ranges__sort(struct latest_ranges *set)
{
	int *order __cleanup(free_ptr) = calloc(set->nr + 1, sizeof(*order));
	int *heap __cleanup(free_ptr) = calloc(set->nr + 1, sizeof(*heap));
	struct sweep sweep = {.heap = heap};

	if (!order || !heap)
		return -ENOMEM;
	for (int i = 0; i < set->nr; i++)
		order[i] = i;
	qsort_r(order, set->nr, sizeof(*order), compare_starts, set->ranges);
	return sweep_up(set, order, &sweep);
}

const struct latest_part *latest_ranges__find(const struct latest_ranges *set, uint64_t address)
{
	size_t at = array__nr_up_to(set->parts, set->nr_parts, end, address);

	return at < (size_t)set->nr_parts && set->parts[at].start <= address ? &set->parts[at] :
									       NULL;
}

void latest_ranges__clear(struct latest_ranges *set)
{
	free(set->ranges);
	free(set->parts);
	*set = (struct latest_ranges){};
}

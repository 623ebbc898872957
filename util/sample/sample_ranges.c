// SPDX-License-Identifier: GPL-2.0
#include "util/sample/sample_ranges.h"

#include "util/bperf/crash_point.h"
#include "util/lib/address_ranges.h"
#include "util/lib/sorted.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Return: how many borders a half has; other sessions write it. */
static uint32_t nr_borders(const struct sample_range_half *half)
{
	uint32_t nr = __atomic_load_n(&half->nr, __ATOMIC_RELAXED);

	return nr < MAX_SAMPLE_BORDERS ? nr : MAX_SAMPLE_BORDERS;
}

static uint64_t samplers_at(const struct sample_range_half *half, uint64_t address)
{
	size_t nr = array__nr_up_to(half->border, nr_borders(half), start, address);

	return nr ? half->border[nr - 1].samplers : 0;
}

uint64_t sample_ranges__at(const struct sample_ranges *shared, uint64_t address)
{
	return samplers_at(&shared->half[shared->in_use & 1], address);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Return: all addresses at which anything may change, sorted; NULL without memory. */
static uint64_t *list_borders(const struct sample_range_half *old,
			      const struct address_ranges *ranges, size_t *nr)
{
	size_t nr_old = nr_borders(old), nr_new = ranges ? ranges->nr : 0;
	uint64_t *list = calloc(nr_old + 2 * nr_new + 1, sizeof(*list));

	*nr = 0;
	for (size_t i = 0; list && i < nr_old; i++)
		list[(*nr)++] = old->border[i].start;
	for (size_t i = 0; list && i < nr_new; i++) {
		list[(*nr)++] = ranges->ranges[i].start;
		list[(*nr)++] = ranges->ranges[i].end;
	}
	if (list)
		qsort(list, *nr, sizeof(*list), compare);
	return list;
}

static int merge(const struct sample_range_half *old, struct sample_range_half *new, uint64_t bit,
		 const struct address_ranges *ranges)
{
	uint64_t *list __cleanup(free_ptr) = NULL, last = 0;
	size_t nr_listed;
	uint32_t nr = 1;

	list = list_borders(old, ranges, &nr_listed);
	if (!list)
		return -ENOMEM;
	new->border[0] = (struct sample_border){};
	for (size_t i = 0; i < nr_listed; i++) {
		uint64_t samplers = samplers_at(old, list[i]) & ~bit;

		if (ranges && address_ranges__has(ranges, list[i]))
			samplers |= bit;
		if (samplers == last)
			continue;
		if (nr == MAX_SAMPLE_BORDERS)
			return -ENOSPC;
		new->border[nr++] = (struct sample_border){list[i], samplers};
		last = samplers;
	}
	new->nr = nr;
	for (uint32_t i = nr; i < MAX_SAMPLE_BORDERS; i++)
		new->border[i] = (struct sample_border){UINT64_MAX, 0};
	new->step = nr > 1 ? sizeof(*new->border) << (31 - __builtin_clz(nr - 1)) : 0;
	return 0;
}

int sample_ranges__set(struct sample_ranges *shared, int sampler,
		       const struct address_ranges *ranges)
{
	uint32_t in_use = shared->in_use & 1;
	int err = merge(&shared->half[in_use], &shared->half[!in_use], 1ULL << sampler, ranges);

	if (err)
		return err;
	crash_point__reach("sample-ranges-written");
	__atomic_store_n(&shared->in_use, !in_use, __ATOMIC_RELEASE);
	crash_point__reach("sample-ranges-turned");
	return 0;
}

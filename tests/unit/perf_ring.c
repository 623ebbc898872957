// SPDX-License-Identifier: GPL-2.0
/* Records in the ring buffer of a perf event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "util/host/perf_ring.h"
#include "util/lib/util.h"

#define PAGE 4096

struct numbered {
	struct perf_event_header header;
	uint64_t number;
};

static struct perf_ring new_ring(uint64_t at)
{
	struct perf_ring ring = {.page = calloc(2, PAGE), .page_size = PAGE, .data_size = PAGE};

	assert_non_null(ring.page);
	ring.page->data_head = ring.page->data_tail = at;
	return ring;
}

static void put(struct perf_ring *ring, uint64_t number)
{
	const struct numbered record = {.header = {.size = sizeof(record)}, .number = number};

	for (size_t i = 0; i < sizeof(record); i++)
		((char *)ring->page)[PAGE + ring->page->data_head++ % PAGE] =
			((const char *)&record)[i];
}

/* The numbers that were handed over, and the one that ends it. */
struct taken {
	uint64_t sum, last;
};

static int take(void *ctx, const struct perf_event_header *header)
{
	struct taken *taken = ctx;
	uint64_t number = ((const struct numbered *)header)->number;

	taken->sum += number;
	return number == taken->last;
}

static void records_are_taken_once_and_looked_at_often(void **state __unused)
{
	struct perf_ring ring = new_ring(3 * PAGE - sizeof(struct numbered) / 2);
	uint64_t tail = ring.page->data_tail;
	struct taken taken = {};

	put(&ring, 1); /* around the end */
	put(&ring, 2);
	assert_int_equal(perf_ring__look(&ring, take, &taken), 0);
	assert_int_equal(perf_ring__look(&ring, take, &taken), 0);
	assert_int_equal(taken.sum, 6);
	assert_int_equal(ring.page->data_tail, tail);
	assert_int_equal(perf_ring__take(&ring, take, &taken), 0);
	assert_int_equal(taken.sum, 9);
	assert_int_equal(ring.page->data_tail, ring.page->data_head);
	assert_int_equal(perf_ring__take(&ring, take, &taken), 0);
	assert_int_equal(taken.sum, 9);
	free(ring.page);
}

static void a_reader_that_stops_gets_the_rest_later(void **state __unused)
{
	struct perf_ring ring = new_ring(0);
	struct taken taken = {.last = 2};

	for (int i = 1; i <= 3; i++)
		put(&ring, i);
	assert_int_equal(perf_ring__take(&ring, take, &taken), 1);
	assert_int_equal(taken.sum, 3);
	assert_int_equal(perf_ring__take(&ring, take, &taken), 0);
	assert_int_equal(taken.sum, 6);
	free(ring.page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_taken_once_and_looked_at_often),
		cmocka_unit_test(a_reader_that_stops_gets_the_rest_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

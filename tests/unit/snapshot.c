// SPDX-License-Identifier: GPL-2.0
/* The copy of the registry for perf bperf list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/bperf/leader_internal.h"
#include "util/bperf/snapshot.h"

#include <stdlib.h>
#include <string.h>

#define NR_CPUS 2

static struct bperf_leader leader;

static int make_leader(void **state)
{
	(void)state;
	leader.nr_cpus = NR_CPUS;
	leader.registry = calloc(1, sizeof(*leader.registry));
	return leader.registry ? 0 : -1;
}

static int delete_leader(void **state)
{
	(void)state;
	free(leader.registry);
	return 0;
}

/* Add an event of a group, whose first one has @nr_members. Its key is made of its slot. */
static void add_event(__u32 slot, __u32 first, __u32 nr_members)
{
	struct reg_event *event = &leader.registry->event[slot];

	event->state = REG_READY;
	event->leader = first;
	event->nr_members = nr_members;
	event->key.bytes[0] = slot + 1;
}

static void sound_groups_are_copied(void **state)
{
	struct snapshot list = {};

	(void)state;
	add_event(0, 0, 1);
	add_event(MAX_EVENTS - 2, MAX_EVENTS - 2, 2);
	add_event(MAX_EVENTS - 1, MAX_EVENTS - 2, 0);
	assert_int_equal(snapshot__copy(&list, &leader), 0);
	assert_int_equal(list.registry->event[0].state, REG_READY);
	assert_int_equal(list.registry->event[MAX_EVENTS - 2].state, REG_READY);
	assert_int_equal(list.registry->event[MAX_EVENTS - 1].state, REG_READY);
	snapshot__clear(&list);
}

static void impossible_groups_are_left_out(void **state)
{
	static const struct {
		__u32 slot, first, nr_members;
	} wrong[] = {
		{0, 0, 0},
		{1, 2, 1},
		{2, MAX_EVENTS, 1},
		{3, ~0U, 1},
		{4, 4, MAX_EVENTS - 3},
		{5, 5, ~0U},
		{MAX_EVENTS - 1, MAX_EVENTS - 1, 2},
		{MAX_EVENTS - 2, 6, 1},
	};
	struct snapshot list = {};

	(void)state;
	add_event(6, 6, 1);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		add_event(wrong[i].slot, wrong[i].first, wrong[i].nr_members);
	assert_int_equal(snapshot__copy(&list, &leader), 0);
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		assert_int_equal(list.registry->event[slot].state,
				 slot == 6 ? REG_READY : REG_FREE);
		if (list.registry->event[slot].state == REG_READY)
			assert_null(snapshot__entry(&list, slot));
	}
	snapshot__clear(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sound_groups_are_copied, make_leader,
						delete_leader),
		cmocka_unit_test_setup_teardown(impossible_groups_are_left_out, make_leader,
						delete_leader),
	};

	return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}

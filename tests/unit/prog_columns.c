// SPDX-License-Identifier: GPL-2.0
/* The plan of columns to read at a BPF program, without BPF. */
#include "util/bperf/prog_columns.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NR_CPUS 3

struct world {
	struct registry *reg;
	struct reg_pair pair;
	struct prog_columns plan;
	bool is_foreign[MAX_EVENTS];
};

static int set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->reg = calloc(1, sizeof(*w->reg));
	w->reg->nr_cpus = NR_CPUS;
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	free(w->reg);
	free(w);
	return 0;
}

static void count(struct world *w, int slot, int session)
{
	struct reg_event *event = &w->reg->event[slot];

	event->state = REG_READY;
	event->leader = slot;
	event->users[session / 64] |= 1ULL << session % 64;
}

static void use(struct world *w, int session, bool on)
{
	if (on)
		w->pair.users[session / 64] |= 1ULL << session % 64;
	else
		w->pair.users[session / 64] &= ~(1ULL << session % 64);
}

/* Return: the column in which a slot is read, or -1. */
static int column(const struct world *w, int slot)
{
	int i = prog_columns__find(&w->plan, slot);

	if (i >= 0)
		assert_int_equal(w->plan.column[i].first, slot * NR_CPUS);
	return i;
}

static bool is_foreign(void *ctx, int slot)
{
	return ((struct world *)ctx)->is_foreign[slot];
}

static bool update(struct world *w)
{
	bool is_new = false;

	assert_int_equal(prog_columns__update(w->reg, &w->pair, &w->plan, is_foreign, w, &is_new),
			 0);
	return is_new;
}

static void only_events_of_its_users_are_read(void **state)
{
	struct world *w = *state;

	count(w, 5, 1);
	count(w, 7, 900);
	count(w, 9, 2); /* session 2 does not count this program */
	use(w, 1, true);
	use(w, 900, true);
	assert_true(update(w));
	assert_int_equal(w->plan.nr, 2);
	assert_int_equal(column(w, 5), 0);
	assert_int_equal(column(w, 7), 1);
	assert_int_equal(column(w, 9), -1);
	assert_false(update(w));
	assert_int_equal(w->plan.nr, 2);
}

static void an_event_of_two_sessions_is_read_once(void **state)
{
	struct world *w = *state;

	for (int session = 0; session < 64; session++) {
		count(w, 3, session);
		use(w, session, true);
		assert_int_equal(update(w), session == 0);
	}
	assert_int_equal(w->plan.nr, 1);
}

static void columns_stay_where_they_are_while_others_come_and_go(void **state)
{
	struct world *w = *state;

	for (int session = 0; session < 4; session++) {
		count(w, 10 + session, session);
		use(w, session, true);
	}
	update(w);
	use(w, 1, false);
	assert_false(update(w));
	assert_int_equal(column(w, 10), 0);
	assert_int_equal(column(w, 11), -1);
	assert_int_equal(column(w, 12), 2);
	assert_int_equal(w->plan.nr, 4);
	/* The next event takes the free column. */
	count(w, 40, 5);
	use(w, 5, true);
	assert_true(update(w));
	assert_int_equal(column(w, 40), 1);
	/* Without the last columns, their number falls. */
	use(w, 3, false);
	use(w, 2, false);
	update(w);
	assert_int_equal(w->plan.nr, 2);
	use(w, 0, false);
	use(w, 5, false);
	update(w);
	assert_int_equal(w->plan.nr, 0);
}

static void group_members_are_read_for_users_of_the_group(void **state)
{
	struct world *w = *state;

	count(w, 20, 6);
	for (int i = 21; i < 23; i++) {
		w->reg->event[i].state = REG_READY;
		w->reg->event[i].leader = 20;
	}
	use(w, 6, true);
	update(w);
	assert_int_equal(w->plan.nr, 3);
	assert_int_equal(column(w, 22), 2);
}

static void events_beyond_the_columns_are_left_out(void **state)
{
	struct world *w = *state;
	bool is_new = false;

	for (int slot = 0; slot < MAX_COLUMNS; slot++)
		count(w, slot, 0);
	use(w, 0, true);
	update(w);
	count(w, MAX_COLUMNS, 1);
	use(w, 1, true);
	assert_int_equal(prog_columns__update(w->reg, &w->pair, &w->plan, is_foreign, w, &is_new),
			 -ENOSPC);
	assert_false(is_new);
	assert_int_equal(w->plan.nr, MAX_COLUMNS);
	assert_int_equal(column(w, MAX_COLUMNS - 1), MAX_COLUMNS - 1);
	use(w, 1, false);
	assert_false(update(w));
}

static void events_being_opened_or_closed_are_not_read(void **state)
{
	struct world *w = *state;

	count(w, 1, 0);
	use(w, 0, true);
	update(w);
	w->reg->event[1].state = REG_CHANGING;
	update(w);
	assert_int_equal(w->plan.nr, 0);
}

static void foreign_events_are_not_quick(void **state)
{
	struct world *w = *state;

	count(w, 1, 0);
	count(w, 2, 0);
	use(w, 0, true);
	update(w);
	assert_int_equal(w->plan.nr_quick, 2);
	w->is_foreign[2] = true;
	update(w);
	assert_int_equal(w->plan.nr_quick, 0);
	/* The event is our own again. */
	w->is_foreign[2] = false;
	for (int slot = 10; slot < 20; slot++)
		count(w, slot, 0);
	update(w);
	assert_int_equal(w->plan.nr, 12);
	assert_int_equal(w->plan.nr_quick, QUICK_COLUMNS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void wrong_numbers_are_ignored(void **state)
{
	struct world *w = *state;
	bool is_new = false;

	count(w, 3, 0);
	use(w, 0, true);
	w->plan.nr = ~0U;
	for (int i = 0; i < MAX_COLUMNS; i++)
		w->plan.column[i] = (struct prog_column){.first = 0, .slot = ~0U};
	w->reg->event[5].state = REG_READY;
	w->reg->event[5].leader = ~0U;
	assert_false(prog_columns__is_wanted(w->reg, &w->pair, MAX_EVENTS));
	assert_int_equal(prog_columns__update(w->reg, &w->pair, &w->plan, is_foreign, w, &is_new),
			 0);
	assert_int_equal(w->plan.nr, 1);
	assert_int_equal(w->plan.column[0].slot, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_events_of_its_users_are_read),
		TEST(an_event_of_two_sessions_is_read_once),
		TEST(columns_stay_where_they_are_while_others_come_and_go),
		TEST(group_members_are_read_for_users_of_the_group),
		TEST(events_beyond_the_columns_are_left_out),
		TEST(foreign_events_are_not_quick),
		TEST(events_being_opened_or_closed_are_not_read),
		TEST(wrong_numbers_are_ignored),
	};

	return cmocka_run_group_tests_name("prog_columns", tests, NULL, NULL);
}

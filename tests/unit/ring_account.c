// SPDX-License-Identifier: GPL-2.0
/* The part of a count that no sample of a ring buffer stands for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/event/evsel.h"
#include "util/lib/util.h"
#include "util/profile/ring_account.h"

static struct evsel *new_event(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {.type = type, .config = config};
	struct evsel *evsel = evsel__new(&attr, "event");

	assert_non_null(evsel);
	return evsel;
}

static struct evsel *new_clock(void)
{
	return new_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
}

static uint64_t sum_of(const struct sample_account *account)
{
	uint64_t sum = account->kept.weight + account->idle.weight + account->mode.weight +
		       account->other.weight + account->thinned + account->unseen +
		       account->refused;

	for (int i = 0; i < NR_SAMPLE_LOSSES; i++)
		sum += account->lost[i].weight;
	return sum;
}

/* Each part of the count is in one place. */
static struct sample_account split(const struct ring_tally *tally, struct sample_account account)
{
	ring_account__split(tally, &account);
	assert_int_equal(sum_of(&account), account.counted);
	return account;
}

static void periods_under_way_are_no_losses(void **state __unused)
{
	struct ring_tally tally = {.evsel = new_clock(), .nr_begun = 2};
	const struct sample_account counted = {
		.kept = {50, 500}, .idle = {10, 100}, .mode = {20, 200}, .other = {1, 10}};
	struct sample_account account = counted;

	account.counted = 810 + 29;
	account = split(&tally, account);
	assert_int_equal(account.thinned, 29);
	assert_int_equal(account.lost[SAMPLE_LOST_TIMER].nr, 0);
	/* One more than can be under way: none of them is. */
	account = counted;
	account.counted = 810 + 30;
	account = split(&tally, account);
	assert_int_equal(account.thinned, 0);
	assert_int_equal(account.lost[SAMPLE_LOST_TIMER].nr, 3);
	assert_int_equal(account.lost[SAMPLE_LOST_TIMER].weight, 30);
	evsel__delete((struct evsel *)tally.evsel);
}

static void an_event_without_any_sample_has_its_losses(void **state __unused)
{
	struct ring_tally tally = {.evsel = new_clock(), .nr_begun = 1, .period = 10};
	struct sample_account account = split(&tally, (struct sample_account){.counted = 100});

	assert_int_equal(account.lost[SAMPLE_LOST_TIMER].nr, 10);
	/* Without a period nobody knows how many samples were due. */
	tally.period = 0;
	assert_int_equal(split(&tally, (struct sample_account){.counted = 100}).thinned, 100);
	evsel__delete((struct evsel *)tally.evsel);
}

static void lost_records_have_their_part_of_the_count(void **state __unused)
{
	struct ring_tally tally = {.evsel = new_clock(), .nr_begun = 1};
	struct sample_account account = {
		.kept = {50, 500}, .lost = {[SAMPLE_LOST_LATE] = {30, 0}}, .counted = 1000};

	account = split(&tally, account);
	assert_int_equal(account.lost[SAMPLE_LOST_LATE].nr, 30);
	assert_int_equal(account.lost[SAMPLE_LOST_LATE].weight, 300);
	assert_int_equal(account.lost[SAMPLE_LOST_TIMER].weight, 200);
	/* Records of other kinds are among them. */
	account = (struct sample_account){
		.kept = {50, 500}, .lost = {[SAMPLE_LOST_LATE] = {30, 0}}, .counted = 550};
	account = split(&tally, account);
	assert_int_equal(account.lost[SAMPLE_LOST_LATE].weight, 50);
	evsel__delete((struct evsel *)tally.evsel);
}

static void a_throttled_clock_runs_on(void **state __unused)
{
	struct ring_tally tally = {.evsel = new_clock(), .nr_begun = 1, .stood_ns = 400};
	const struct sample_account throttled = {
		.kept = {60, 600}, .lost = {[SAMPLE_LOST_THROTTLE] = {7, 0}}, .counted = 600};
	struct sample_account account = split(&tally, throttled);

	assert_int_equal(account.counted, 1000);
	assert_int_equal(account.lost[SAMPLE_LOST_THROTTLE].nr, 40);
	assert_int_equal(account.lost[SAMPLE_LOST_THROTTLE].weight, 400);
	/* Its two times differ without throttling, too. */
	account = split(&tally, (struct sample_account){.kept = {60, 600}, .counted = 600});
	assert_int_equal(account.counted, 600);
	/* Other events: how often, and no weight. */
	tally.stood_ns = 0;
	account = split(&tally, throttled);
	assert_int_equal(account.lost[SAMPLE_LOST_THROTTLE].nr, 7);
	assert_int_equal(account.lost[SAMPLE_LOST_THROTTLE].weight, 0);
	evsel__delete((struct evsel *)tally.evsel);
}

static void idle_time_without_samples_is_no_loss(void **state __unused)
{
	struct ring_tally tally = {.evsel = new_clock(), .nr_begun = 2, .idle_ns = 430};
	const struct sample_account counted = {.kept = {50, 500}, .idle = {3, 30}, .counted = 1000};
	struct sample_account account = split(&tally, counted);

	assert_int_equal(account.idle.weight, 430);
	assert_int_equal(account.idle.nr, 43);
	assert_int_equal(account.lost[SAMPLE_LOST_TIMER].weight, 70);
	/* no more than is missing */
	tally.idle_ns = 10000;
	account = split(&tally, counted);
	assert_int_equal(account.idle.weight, 500);
	assert_int_equal(account.lost[SAMPLE_LOST_TIMER].nr, 0);
	/* Less than a period of each CPU is left. */
	tally.idle_ns = 480;
	account = split(&tally, counted);
	assert_int_equal(account.thinned, 20);
	assert_int_equal(account.lost[SAMPLE_LOST_TIMER].nr, 0);
	/* So is what may be idle time, since the kernel tells that in steps. */
	tally.idle_ns = 465;
	assert_int_equal(split(&tally, counted).lost[SAMPLE_LOST_TIMER].nr, 3);
	tally.step_ns = 20;
	account = split(&tally, counted);
	assert_int_equal(account.thinned, 35);
	assert_int_equal(account.lost[SAMPLE_LOST_TIMER].nr, 0);
	/* All idle time has samples. */
	tally.idle_ns = 25;
	account = split(&tally, counted);
	assert_int_equal(account.idle.weight, 30);
	assert_int_equal(account.lost[SAMPLE_LOST_TIMER].weight, 470);
	evsel__delete((struct evsel *)tally.evsel);
}

static void a_rest_that_others_decide_about_is_one_sum(void **state __unused)
{
	struct ring_tally tally = {.evsel = new_clock(), .nr_begun = 1, .has_prog = true};
	const struct sample_account half = {.kept = {50, 500}, .counted = 1000};

	assert_int_equal(split(&tally, half).refused, 500);
	tally.has_prog = false;
	tally.hides_modes = true;
	assert_int_equal(split(&tally, half).lost[SAMPLE_LOST_TIMER].weight, 500);
	((struct evsel *)tally.evsel)->attr.exclude_kernel = 1;
	assert_int_equal(split(&tally, half).unseen, 500);
	evsel__delete((struct evsel *)tally.evsel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(periods_under_way_are_no_losses),
		cmocka_unit_test(an_event_without_any_sample_has_its_losses),
		cmocka_unit_test(lost_records_have_their_part_of_the_count),
		cmocka_unit_test(a_throttled_clock_runs_on),
		cmocka_unit_test(idle_time_without_samples_is_no_loss),
		cmocka_unit_test(a_rest_that_others_decide_about_is_one_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

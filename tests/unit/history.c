// SPDX-License-Identifier: GPL-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "util/event/evlist.h"
#include "util/lib/util.h"
#include "util/profile/history.h"
#include "util/profile/profile_options.h"
#include "util/profile/profile_report.h"
#include "util/profile/rows.h"
#include "util/sample/sampler.h"
#include "util/symbol/symbols.h"

struct world {
	struct history history;
	struct samples samples; /* of the interval */
	struct sample_account account;
	struct profile_options options;
};

static void begin(struct world *world)
{
	*world = (struct world){};
	world->samples.symbols = symbols__new(SYMBOLS_NAMES, false);
	world->samples.key = SAMPLE_COMM | SAMPLE_CPU;
	assert_int_equal(sort_keys__parse(&world->options.sort, "comm"), 0);
}

static void end(struct world *world)
{
	history__clear(&world->history);
	samples__reset(&world->samples);
	symbols__delete(world->samples.symbols);
}

/* Samples that differ in their CPU are different entries of one row. */
static void add(struct world *world, const char *comm, int cpu, uint64_t nr, uint64_t weight)
{
	const struct sample_entry entry = {
		.comm = comm, .cpu = cpu, .nr_samples = nr, .weight = weight};

	assert_int_equal(samples__add(&world->samples, &entry), 0);
	world->account.kept.nr += nr;
	world->account.kept.weight += weight;
	world->account.counted += weight;
	world->account.period = 100;
}

static void end_interval(struct world *world, bool zero)
{
	assert_int_equal(
		history__add(&world->history, &world->samples, &world->account, 1, 1000, zero), 0);
	samples__reset(&world->samples);
	world->account = (struct sample_account){.period = 100};
}

/* Return: the samples and the weight of a command. */
static struct samples_sum sum_of(struct world *world, const char *comm)
{
	struct samples_sum sum = {};
	struct rows rows;

	assert_int_equal(rows__make(&rows, &world->history.samples, &world->options, 0), 0);
	for (int i = 0; i < rows.nr; i++) {
		if (!strcmp(rows.rows[i].values[0].text, comm))
			sum = (struct samples_sum){rows.rows[i].nr, rows.rows[i].weight};
	}
	rows__clear(&rows);
	return sum;
}

static void test_one_interval_is_as_it_is(void **state __unused)
{
	struct world world;

	begin(&world);
	add(&world, "a", 0, 3, 301);
	add(&world, "a", 1, 1, 100);
	end_interval(&world, false);
	assert_int_equal(sum_of(&world, "a").nr, 4);
	assert_int_equal(sum_of(&world, "a").weight, 401);
	assert_int_equal(world.history.accounts[0].kept.nr, 4);
	assert_int_equal(world.history.accounts[0].counted, 401);
	assert_int_equal(world.history.accounts[0].period, 100);
	assert_int_equal(world.history.elapsed_ns, 1000);
	end(&world);
}

static void test_a_sample_counts_seven_eighths_as_much_after_each_interval(void **state __unused)
{
	struct world world;

	begin(&world);
	add(&world, "a", 0, 64, 6400);
	end_interval(&world, false);
	add(&world, "b", 0, 8, 800);
	end_interval(&world, false);
	assert_int_equal(sum_of(&world, "a").nr, 56);
	assert_int_equal(sum_of(&world, "a").weight, 5600);
	assert_int_equal(sum_of(&world, "b").nr, 8);
	assert_int_equal(world.history.accounts[0].kept.weight, 6400);
	assert_int_equal(world.history.elapsed_ns, 1875);
	end_interval(&world, false);
	assert_int_equal(sum_of(&world, "a").nr, 49);
	assert_int_equal(sum_of(&world, "b").nr, 7);
	assert_int_equal(world.history.accounts[0].period, 100);
	end(&world);
}

static void test_rounding_loses_nothing_of_samples_that_all_differ(void **state __unused)
{
	struct world world;

	begin(&world);
	for (int cpu = 0; cpu < 64; cpu++)
		add(&world, "a", cpu, 1, 100);
	end_interval(&world, false);
	end_interval(&world, false);
	end_interval(&world, false);
	assert_int_equal(sum_of(&world, "a").nr, 49);
	assert_int_equal(sum_of(&world, "a").weight, 4900);
	end(&world);
}

static void test_old_samples_are_forgotten(void **state __unused)
{
	struct world world;
	int nr = 0;

	begin(&world);
	add(&world, "a", 0, 1, 1000000);
	end_interval(&world, false);
	for (; world.history.samples.keys.nr; nr++)
		end_interval(&world, false);
	/* As history.h describes; rounding may end it a bit earlier. */
	assert_in_range(nr, 19, 21);
	for (int i = 0; i < 200; i++)
		end_interval(&world, false);
	assert_int_equal(world.history.accounts[0].kept.nr, 0);
	assert_int_equal(world.history.accounts[0].kept.weight, 0);
	end(&world);
}

static void test_zero_drops_all_older_intervals(void **state __unused)
{
	struct world world;

	begin(&world);
	add(&world, "a", 0, 64, 6400);
	end_interval(&world, true);
	add(&world, "b", 0, 8, 800);
	end_interval(&world, true);
	assert_int_equal(sum_of(&world, "a").nr, 0);
	assert_int_equal(sum_of(&world, "b").nr, 8);
	assert_int_equal(world.history.accounts[0].kept.weight, 800);
	assert_int_equal(world.history.elapsed_ns, 1000);
	end(&world);
}

/* Return: what the rows print, owned by the caller. */
static char *print(struct world *world)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE};
	struct evlist *events = evlist__new();
	struct profile_report report = {
		.options = &world->options,
		.samples = &world->history.samples,
		.events = events,
		.accounts = world->history.accounts,
		.target = "system wide",
		.rate = "99 Hz",
		.elapsed_ns = 2 * NSEC_PER_SEC,
	};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	evlist__add(events, evsel__new(&attr, "cycles"));
	assert_int_equal(profile_report__print_page(out, &report, 0), 0);
	fclose(out);
	evlist__delete(events);
	return text;
}

static void assert_prints(struct world *world, const char *want)
{
	char *text = print(world);

	assert_string_equal(text, want);
	free(text);
}

static void test_a_page_begins_with_the_account_and_can_leave_out_rows(void **state __unused)
{
	struct world world;

	begin(&world);
	add(&world, "many", 0, 6, 600);
	add(&world, "some", 0, 3, 300);
	add(&world, "one\033", 0, 1, 100);
	end_interval(&world, false);
#define HEAD                                                                                       \
	"# 10 samples of cycles, 99 Hz, system wide, 2.000 s\n"                                    \
	"# 10 samples stand for 100.0 % of cycles (1,000 of 1,000)\n#\n"                           \
	"# Overhead  Samples  Command\n"
	assert_prints(&world, HEAD "    60.00%        6  many\n"
				   "    30.00%        3  some\n"
				   "    10.00%        1  one\\033\n");
	world.options.max_rows = 1;
	assert_prints(&world, HEAD "    60.00%        6  many\n# 2 more rows\n");
	world.options.min_samples = 2;
	assert_prints(&world, HEAD "    60.00%        6  many\n# 1 more row\n");
	world.options.max_rows = 2;
	assert_prints(&world, HEAD "    60.00%        6  many\n    30.00%        3  some\n");
	world.options.filter = "om";
	assert_prints(&world, HEAD "    30.00%        3  some\n");
	world.options.min_samples = 0;
	world.options.filter = "one";
	assert_prints(&world, HEAD "    10.00%        1  one\\033\n");
	end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_interval_is_as_it_is),
		cmocka_unit_test(test_a_sample_counts_seven_eighths_as_much_after_each_interval),
		cmocka_unit_test(test_rounding_loses_nothing_of_samples_that_all_differ),
		cmocka_unit_test(test_old_samples_are_forgotten),
		cmocka_unit_test(test_zero_drops_all_older_intervals),
		cmocka_unit_test(test_a_page_begins_with_the_account_and_can_leave_out_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

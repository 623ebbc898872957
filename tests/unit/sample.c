// SPDX-License-Identifier: GPL-2.0
/* Rates of sampling events for all sessions, keys of samples, stacks that programs overwrite, ranges, and single samples. */
#include "tests/unit/event_data.h"
#include "util/event/evsel.h"
#include "util/lib/address_ranges.h"
#include "util/lib/util.h"
#include "util/sample/sample_account.h"
#include "util/sample/sample_ranges.h"
#include "util/sample/sample_rate.h"
#include "util/sample/sample_singles.h"
#include "util/sample/sample_table.h"
#include "util/sample/sampler_internal.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- rates --- */

static struct sample_plan *new_plan(enum sample_class class)
{
	struct sample_plan *plan = calloc(1, sizeof(*plan));

	assert_non_null(plan);
	plan->slot[1].class = class;
	return plan;
}

static void use(struct sample_plan *plan, int sampler, uint64_t rate)
{
	plan->slot[1].takers |= 1ULL << sampler;
	plan->sampler[sampler].rate[1] = rate;
}

static void the_shortest_period_of_a_cpu_counts(void **state)
{
	struct sample_plan *plan = new_plan(SAMPLE_CLASS_PERIOD);

	(void)state;
	assert_int_equal(sample_rate__needed(plan, 1, 0), 0);
	use(plan, 0, 1000);
	use(plan, 63, 500);
	plan->sampler[63].other_cpus[1] = 1; /* CPU 64 */
	/* This session does not use the slot. */
	plan->sampler[7].rate[1] = 10;
	assert_int_equal(sample_rate__needed(plan, 1, 0), 500);
	assert_int_equal(sample_rate__needed(plan, 1, 64), 1000);
	assert_int_equal(sample_rate__needed(plan, 0, 0), 0);
	free(plan);
}

static void the_highest_frequency_counts(void **state)
{
	struct sample_plan *plan = new_plan(SAMPLE_CLASS_FREQ);

	(void)state;
	use(plan, 3, 99);
	use(plan, 4, 997);
	assert_int_equal(sample_rate__needed(plan, 1, 0), 997);
	plan->slot[1].takers = 1ULL << 3;
	assert_int_equal(sample_rate__needed(plan, 1, 0), 99);
	free(plan);
}

/* Others leave out a session that stays at one collection while they look often enough. */
static void a_session_that_stops_collecting_does_not_count(void **state)
{
	struct sample_plan *plan = new_plan(SAMPLE_CLASS_PERIOD);
	struct sample_sleepers sleepers = {};

	(void)state;
	use(plan, 0, 1000);
	use(plan, 1, 100);
	plan->sampler[0].token = plan->sampler[1].token = 7;
	for (int i = 0; i < SLEEPER_LOOKS; i++) {
		sample_sleepers__wake(plan, 0);
		sample_sleepers__find(&sleepers, plan);
		assert_int_equal(sample_rate__needed(plan, 1, 0), 100);
	}
	/* Another session in its place begins anew. */
	plan->sampler[1].token = 8;
	sample_sleepers__wake(plan, 0);
	sample_sleepers__find(&sleepers, plan);
	assert_int_equal(sample_rate__needed(plan, 1, 0), 100);
	for (int i = 0; i < SLEEPER_LOOKS; i++) {
		sample_sleepers__wake(plan, 0);
		sample_sleepers__find(&sleepers, plan);
	}
	assert_int_equal(sample_rate__needed(plan, 1, 0), 1000);
	sample_sleepers__wake(plan, 1);
	assert_int_equal(sample_rate__needed(plan, 1, 0), 100);
	free(plan);
}

static void use_event(struct sample_plan *plan, int slot, enum sample_class class, uint32_t type,
		      uint64_t config, uint32_t needs)
{
	struct perf_event_attr attr = {.type = type, .config = config};

	plan->slot[slot].class = class;
	plan->slot[slot].needs = needs;
	memcpy(plan->slot[slot].key.bytes, &attr, sizeof(attr));
}

static void the_fastest_session_of_each_slot_fills_the_stores(void **state)
{
	struct sample_plan *plan = new_plan(SAMPLE_CLASS_NONE);

	(void)state;
	assert_int_equal(sample_rate__words_per_ms(plan), 0);
	use_event(plan, 1, SAMPLE_CLASS_PERIOD, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK,
		  SAMPLE_NEEDS_USER_STACK);
	use(plan, 0, 10000000);
	use(plan, 5, 100000);
	/* one of 129 words each 0.1 ms */
	assert_int_equal(sample_rate__words_per_ms(plan), 1290);
	/* A disabled session has no rate. */
	use(plan, 5, 0);
	assert_int_equal(10 * sample_rate__words_per_ms(plan), 129);
	/* two stacks of a sample, cycles at 4 GHz */
	use_event(plan, 1, SAMPLE_CLASS_PERIOD, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
		  SAMPLE_NEEDS_USER_STACK | SAMPLE_NEEDS_KERNEL_STACK | SAMPLE_NEEDS_COMM);
	use(plan, 0, 4000000);
	assert_int_equal(sample_rate__words_per_ms(plan), 258);
	/* another slot, by frequency */
	use_event(plan, 2, SAMPLE_CLASS_FREQ, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS,
		  SAMPLE_NEEDS_KERNEL_STACK);
	plan->slot[2].takers = 1;
	plan->sampler[0].rate[2] = 2000;
	assert_int_equal(sample_rate__words_per_ms(plan), 258 + 258);
	/* without stacks nothing */
	plan->slot[2].needs = SAMPLE_NEEDS_ADDR;
	assert_int_equal(sample_rate__words_per_ms(plan), 258);
	free(plan);
}

static struct sample_rate choose(uint32_t type, uint64_t config, enum sample_rate_kind kind,
				 uint64_t rate, int err)
{
	struct perf_event_attr attr = {.type = type, .config = config};
	struct evsel *evsel = evsel__new(&attr, "event");
	struct sample_rate out = {};

	assert_non_null(evsel);
	assert_int_equal(sample_rate__choose(evsel, kind, rate, &out), err);
	evsel__delete(evsel);
	return out;
}

static void cycles_have_the_period_of_the_fastest_cpu(void **state __unused)
{
	char *sysfs = data_path("sysfs-biglittle");
	struct sample_rate rate;

	setenv("SYSFS_PATH", sysfs, 1);
	rate = choose(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, SAMPLE_BY_FREQ, 1000, 0);
	unsetenv("SYSFS_PATH");
	free(sysfs);
	assert_int_equal(rate.value, 2900000);
}

static void clocks_and_cycles_have_periods(void **state)
{
	struct sample_rate rate;

	(void)state;
	rate = choose(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, SAMPLE_BY_FREQ, 100, 0);
	assert_int_equal(rate.class, SAMPLE_CLASS_PERIOD);
	assert_int_equal(rate.value, 10000000);
	rate = choose(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, SAMPLE_BY_FREQ, 100, 0);
	assert_int_equal(rate.class, SAMPLE_CLASS_PERIOD);
	assert_true(rate.value >= 1000000);
	rate = choose(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, SAMPLE_BY_FREQ, 100, 0);
	assert_int_equal(rate.class, SAMPLE_CLASS_FREQ);
	assert_int_equal(rate.value, 100);
	rate = choose(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, SAMPLE_BY_PERIOD, 7, 0);
	assert_int_equal(rate.class, SAMPLE_CLASS_PERIOD);
	assert_int_equal(rate.value, 7);
	(void)choose(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, SAMPLE_BY_PERIOD, 9999, -EINVAL);
	(void)choose(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, SAMPLE_BY_PERIOD, 10000, 0);
}

/* --- keys --- */

static bool has(const struct sample_table *table, size_t offset, size_t size)
{
	const uint8_t *mask = (const uint8_t *)table->mask + offset;
	int nr_set = 0;

	for (size_t i = 0; i < size; i++)
		nr_set += mask[i] == 0xff;
	assert_true(nr_set == 0 || nr_set == (int)size);
	return nr_set;
}

#define HAS(table, field)                                                                          \
	has(table, offsetof(struct sample_key, field), sizeof(((struct sample_key *)0)->field))

static void a_key_has_its_parts_and_no_other(void **state)
{
	struct sample_table *table = calloc(1, sizeof(*table));

	(void)state;
	assert_non_null(table);
	sample_table__set_key(table, SAMPLE_PROCESS | SAMPLE_USER_STACK, 0);
	assert_true(HAS(table, pid) && HAS(table, start_ns) && HAS(table, exec_id));
	assert_true(HAS(table, user_stack) && HAS(table, flags));
	assert_false(HAS(table, tid) || HAS(table, prio) || HAS(table, kernel_stack) ||
		     HAS(table, ip) || HAS(table, addr) || HAS(table, cgroup));
	assert_int_equal(table->needs, SAMPLE_NEEDS_USER_STACK | SAMPLE_NEEDS_REST);
	sample_table__set_key(table, SAMPLE_THREAD | SAMPLE_CGROUP | SAMPLE_COMM, 0);
	assert_true(HAS(table, tid) && HAS(table, cgroup));
	assert_false(HAS(table, pid) || HAS(table, user_stack));
	/* The number of the slot is in each key, user or kernel mode is not in this one. */
	assert_int_equal(table->mask[SAMPLE_KEY_WORDS - 1], 0xff);
	assert_int_equal(table->needs, SAMPLE_NEEDS_CGROUP | SAMPLE_NEEDS_COMM | SAMPLE_NEEDS_REST);
	sample_table__set_key(table, SAMPLE_ADDR, 12);
	assert_int_equal(table->mask[offsetof(struct sample_key, addr) / 8], -4096ULL);
	free(table);
}

static uint32_t form_of(struct sample_table *table, uint32_t parts)
{
	sample_table__set_key(table, parts, 0);
	assert_int_equal(!!(table->needs & SAMPLE_NEEDS_REST), table->form == SAMPLE_FORM_ANY);
	return table->form;
}

static void only_a_key_of_all_its_words_has_a_form(void **state)
{
	const uint32_t stacks = SAMPLE_KERNEL_STACK | SAMPLE_USER_STACK | SAMPLE_PROCESS;
	struct sample_table *table = calloc(1, sizeof(*table));

	(void)state;
	assert_non_null(table);
	assert_int_equal(form_of(table, SAMPLE_IP | SAMPLE_PROCESS), SAMPLE_FORM_IP);
	assert_int_equal(form_of(table, stacks), SAMPLE_FORM_STACKS);
	assert_int_equal(form_of(table, SAMPLE_IP), SAMPLE_FORM_ANY);
	assert_int_equal(form_of(table, SAMPLE_KERNEL_STACK | SAMPLE_PROCESS), SAMPLE_FORM_ANY);
	assert_int_equal(form_of(table, stacks | SAMPLE_COMM), SAMPLE_FORM_NAMED_STACKS);
	assert_int_equal(form_of(table, SAMPLE_IP | SAMPLE_PROCESS | SAMPLE_COMM), SAMPLE_FORM_ANY);
	assert_int_equal(form_of(table, stacks | SAMPLE_THREAD), SAMPLE_FORM_ANY);
	assert_int_equal(form_of(table, stacks | SAMPLE_IP), SAMPLE_FORM_ANY);
	free(table);
}

/* --- stacks --- */

static void write_stack(struct sample_cpu *cpu, uint64_t pos, int nr)
{
	uint64_t *words = (uint64_t *)cpu->words + pos % STORE_WORDS;

	words[1] = STACK_HEAD(nr, 0);
	for (int i = 0; i < nr; i++)
		words[STACK_HEADER + i] = pos + i;
}

static void a_stack_is_read_until_it_is_overwritten(void **state)
{
	struct sample_cpu *cpu = calloc(1, sizeof(*cpu));
	uint64_t frames[STACK_FRAMES], pos = STACK_FIRST + STORE_WORDS - 5;

	(void)state;
	assert_non_null(cpu);
	/* The last words of the ring, and the room behind it. */
	write_stack(cpu, pos, STACK_FRAMES);
	cpu->head = STACK_FIRST + STORE_WORDS;
	assert_int_equal(sample_table__read_stack(cpu, pos, frames), STACK_FRAMES);
	assert_int_equal(frames[0], pos);
	assert_int_equal(frames[STACK_FRAMES - 1], pos + STACK_FRAMES - 1);
	/* A stack behind the head, which is being written, does not reach it yet, and then does. */
	cpu->head = pos + STORE_WORDS - STACK_WORDS;
	assert_int_equal(sample_table__read_stack(cpu, pos, frames), STACK_FRAMES);
	cpu->head++;
	assert_int_equal(sample_table__read_stack(cpu, pos, frames), -ESTALE);
	/* A position that was never written, as a session with a defect may leave it. */
	assert_int_equal(sample_table__read_stack(cpu, cpu->head, frames), -ESTALE);
	free(cpu);
}

static void a_wrong_number_of_frames_is_not_believed(void **state)
{
	struct sample_cpu *cpu = calloc(1, sizeof(*cpu));
	uint64_t frames[STACK_FRAMES];

	(void)state;
	assert_non_null(cpu);
	write_stack(cpu, STACK_FIRST, 3);
	cpu->head = STACK_FIRST + 5;
	assert_int_equal(sample_table__read_stack(cpu, STACK_FIRST, frames), 3);
	cpu->words[1] = STACK_FRAMES + 1;
	assert_int_equal(sample_table__read_stack(cpu, STACK_FIRST, frames), -ESTALE);
	free(cpu);
}

/* --- ranges --- */

static void add_ranges(struct address_ranges *ranges, const uint64_t *borders, int nr)
{
	for (int i = 0; i < nr; i += 2)
		assert_int_equal(address_ranges__add(ranges, borders[i], borders[i + 1]), 0);
	address_ranges__sort(ranges);
}

static void touching_ranges_are_one(void **state)
{
	const uint64_t borders[] = {50, 60, 10, 20, 20, 30, 12, 15, 70, 70, 55, 65};
	struct address_ranges ranges = {};

	(void)state;
	add_ranges(&ranges, borders, ARRAY_SIZE(borders));
	assert_int_equal(ranges.nr, 2);
	assert_int_equal(ranges.ranges[0].end, 30);
	assert_int_equal(ranges.ranges[1].end, 65);
	assert_true(address_ranges__has(&ranges, 10) && address_ranges__has(&ranges, 29));
	assert_false(address_ranges__has(&ranges, 9) || address_ranges__has(&ranges, 30) ||
		     address_ranges__has(&ranges, 65));
	address_ranges__clear(&ranges);
}

/* Sessions come, change and go at random; each address must have those whose ranges it is in. */
static void an_address_is_in_the_ranges_of_its_sessions(void **state)
{
	struct sample_ranges *shared = calloc(1, sizeof(*shared));
	struct address_ranges own[MAX_SAMPLERS] = {};
	unsigned int seed = 1;

	(void)state;
	assert_non_null(shared);
	for (int round = 0; round < 300; round++) {
		int sampler = rand_r(&seed) % MAX_SAMPLERS;

		address_ranges__clear(&own[sampler]);
		for (int i = rand_r(&seed) % 4; i > 0; i--) {
			uint64_t start = rand_r(&seed) % 1000;

			assert_int_equal(address_ranges__add(&own[sampler], start,
							     start + rand_r(&seed) % 100),
					 0);
		}
		address_ranges__sort(&own[sampler]);
		assert_int_equal(sample_ranges__set(shared, sampler, &own[sampler]), 0);
		for (uint64_t at = 0; at < 1100; at++) {
			uint64_t expected = 0;

			for (int i = 0; i < MAX_SAMPLERS; i++)
				expected |= (uint64_t)address_ranges__has(&own[i], at) << i;
			assert_int_equal(sample_ranges__at(shared, at), expected);
		}
	}
	for (int i = 0; i < MAX_SAMPLERS; i++) {
		assert_int_equal(sample_ranges__set(shared, i, NULL), 0);
		address_ranges__clear(&own[i]);
	}
	/* The border at 0 stays. */
	assert_int_equal(shared->half[shared->in_use].nr, 1);
	free(shared);
}

static void ranges_without_room_change_nothing(void **state)
{
	struct sample_ranges *shared = calloc(1, sizeof(*shared));
	struct address_ranges few = {}, many = {};

	(void)state;
	assert_non_null(shared);
	assert_int_equal(address_ranges__add(&few, 5, 9), 0);
	for (uint64_t i = 1; i < MAX_SAMPLE_RANGES; i++)
		assert_int_equal(address_ranges__add(&many, 10 * i, 10 * i + 3), 0);
	assert_int_equal(sample_ranges__set(shared, 3, &few), 0);
	/* There is room for all but the last. */
	assert_int_equal(sample_ranges__set(shared, 4, &many), 0);
	assert_int_equal(sample_ranges__set(shared, 4, NULL), 0);
	assert_int_equal(
		address_ranges__add(&many, 10 * MAX_SAMPLE_RANGES, 10 * MAX_SAMPLE_RANGES + 3), 0);
	assert_int_equal(sample_ranges__set(shared, 4, &many), -ENOSPC);
	assert_int_equal(sample_ranges__at(shared, 5), 1 << 3);
	assert_int_equal(sample_ranges__at(shared, 2), 0);
	/* A number that another session has overwritten stays within the memory. */
	shared->half[shared->in_use].nr = -1;
	assert_int_equal(sample_ranges__set(shared, 3, NULL), 0);
	address_ranges__clear(&few);
	address_ranges__clear(&many);
	free(shared);
}

/* --- single samples --- */

static void single_samples_belong_to_their_rows(void **state)
{
	/* The last half of two CPUs with two halves each. */
	struct sample_record records[4][4] = {
		[3] = {{10, 1, 5, 0}, {20, 2, 2047, 0}, {30, 3, 5, 0}, {40, 4, SAMPLE_ROWS, 0}}};
	struct sample_singles singles = {.nr_cpus = 2, .size = 4, .records = records[0]};
	struct sample_table *table = calloc(1, sizeof(*table));
	struct sample_row row = {.nr = 4, .weight = 100};
	const struct sample_single *found;
	uint32_t nr;

	(void)state;
	singles.taken = calloc(4, sizeof(*singles.taken));
	singles.copy = calloc(4, sizeof(*singles.copy));
	/* More than there can be, and a row that is none. */
	table->nr_records[1] = 5;
	sample_singles__take(&singles, table, 1);
	assert_int_equal(table->nr_records[1], 0);
	found = sample_singles__get(&singles, 5, &row, &nr);
	assert_int_equal(nr, 2);
	assert_int_equal(found[0].time_ns, 10);
	assert_int_equal(found[1].time_ns, 30);
	assert_int_equal(found[1].weight, 3);
	assert_int_equal(sample_singles__get(&singles, 2047, &row, &nr)->time_ns, 20);
	assert_int_equal(sample_singles__get(&singles, 0, &row, &nr)->time_ns, 40);
	assert_null(sample_singles__get(&singles, 6, &row, &nr));
	assert_int_equal(nr, 0);
	/* A row has no more samples, and no more weight, than it says. */
	row.nr = 1;
	assert_null(sample_singles__get(&singles, 5, &row, &nr));
	row = (struct sample_row){.nr = 4, .weight = 3};
	assert_null(sample_singles__get(&singles, 5, &row, &nr));
	assert_int_equal(nr, 0);
	/* The other half is empty. */
	table->half = 1;
	sample_singles__take(&singles, table, 1);
	assert_null(sample_singles__get(&singles, 5, &row, &nr));
	free(singles.taken);
	free(singles.copy);
	free(table);
}

/* --- losses --- */

/* Return: the account of an event of one CPU that counted 1,000 units, by samples of 10, without the idle task */
static struct sample_account account_in(uint64_t unit, struct sampled_event *event)
{
	struct sampler sampler = {.events = event, .nr_events = 1, .object.nr_cpus = 1};
	struct sample_account account;

	sampler.tables = calloc(1, sizeof(*sampler.tables));
	event->rate = 10 * unit;
	event->is_periodic = true;
	event->sum.counter = event->sum.enabled_ns = event->sum.running_ns = 1000 * unit;
	sample_account__get(&sampler, 0, &account);
	free(sampler.tables);
	return account;
}

/* Return: the same in single units, with the idle task as a part of the target */
static struct sample_account account_of(struct sampled_event *event)
{
	event->takes_idle = true;
	return account_in(1, event);
}

static void throttling_takes_time_of_clocks(void **state __unused)
{
	struct sampled_event event = {
		.is_clock = true,
		.sum = {.seen.all = {30, 300}, .gaps = {.ns = 550, .weight = 50}},
		.kept = {30, 300},
		.stopped = 123,
	};
	struct sample_account account = account_of(&event);

	assert_int_equal(account.lost[SAMPLE_LOST_THROTTLE].weight, 500);
	assert_int_equal(account.lost[SAMPLE_LOST_THROTTLE].nr, 50);
	assert_int_equal(account.lost[SAMPLE_LOST_BLIND].weight, 200);
	assert_int_equal(account.counted, 1000);
	/* no more than is missing */
	event.sum.seen.all = (struct sample_count){80, 800};
	event.kept = (struct sample_sum){80, 800};
	account = account_of(&event);
	assert_int_equal(account.lost[SAMPLE_LOST_THROTTLE].weight, 200);
	assert_int_equal(account.lost[SAMPLE_LOST_BLIND].nr, 0);
}

static void throttling_hides_counts_of_hardware(void **state __unused)
{
	struct sampled_event event = {
		.stops_throttled = true,
		.sum = {.seen.all = {80, 800}, .gaps = {.ns = 550, .weight = 50}},
		.kept = {80, 800},
		.stopped = 777.7,
	};
	struct sample_account account = account_of(&event);

	assert_int_equal(account.counted, 1777);
	assert_int_equal(account.lost[SAMPLE_LOST_THROTTLE].weight, 777);
	assert_int_equal(account.lost[SAMPLE_LOST_THROTTLE].nr, 77);
	/* The event counted 200 that no sample has, which is another matter. */
	assert_int_equal(account.lost[SAMPLE_LOST_BLIND].weight, 200);
	event.stopped = -5; /* the end of a gap came earlier than the rate has it */
	assert_int_equal(account_of(&event).counted, 1000);
}

static void what_no_sample_has_is_split_among_those_who_ran(void **state __unused)
{
	/* 1,000, of which 500 have samples: 100 of the idle task, 100 of another mode, 150 of others, 150 of the target */
	struct sampled_event event = {
		.is_clock = true,
		.sum = {.seen = {.all = {50, 500}, .idle = {10, 100}, .mode = {10, 100}}},
		.idle_rest = 200,
		.mode_rest = 100,
		.kept = {15, 150},
	};
	struct sample_account account = account_of(&event);

	/* The idle task is a part of the target: of 400, those 250 of 400 are others' that are not of this session. */
	assert_int_equal(account.other.weight, 250);
	assert_int_equal(account.elsewhere.weight, 100 + 250);
	assert_int_equal(account.elsewhere.nr, 35);
	assert_int_equal(account.lost[SAMPLE_LOST_BLIND].weight, 150);
	assert_int_equal(account.lost[SAMPLE_LOST_BLIND].nr, 15);
	/* no more than there is */
	event.mode_rest = 1e30;
	account = account_of(&event);
	assert_int_equal(account.elsewhere.weight, 500);
	assert_int_equal(account.lost[SAMPLE_LOST_BLIND].weight, 0);
	event.mode_rest = -1e30;
	account = account_of(&event);
	assert_int_equal(account.elsewhere.weight, 312);
	assert_int_equal(account.lost[SAMPLE_LOST_BLIND].weight, 188);
}

#define MS (uint64_t) NSEC_PER_MSEC

static void idle_time_without_samples_is_left_out(void **state __unused)
{
	/* 500 ms have no samples, of which the CPU was idle for 420. */
	struct sampled_event event = {
		.is_clock = true,
		.sum = {.seen = {.all = {50, 500 * MS}, .idle = {10, 100 * MS}}},
		.idle_missed = 420 * MS,
		.kept = {20, 200 * MS},
	};
	struct sample_account account = account_in(MS, &event);

	assert_int_equal(account.idle.weight, 520 * MS);
	assert_int_equal(account.idle.nr, 52);
	/* This session has the half of the tasks' samples. */
	assert_int_equal(account.other.weight, 200 * MS);
	assert_int_equal(account.elsewhere.weight, 40 * MS);
	assert_int_equal(account.lost[SAMPLE_LOST_BLIND].weight, 40 * MS);
	/* no more than is missing */
	event.idle_missed = 1e30;
	account = account_in(MS, &event);
	assert_int_equal(account.idle.weight, 600 * MS);
	assert_int_equal(account.lost[SAMPLE_LOST_BLIND].weight, 0);
	/* Less than a period is none, and less than a tick of 10 ms may be idle time. */
	event.idle_missed = 481 * MS;
	account = account_in(MS, &event);
	assert_int_equal(account.thinned, 19 * MS);
	event.idle_missed = 479 * MS;
	account = account_in(MS, &event);
	assert_int_equal(account.thinned, 0);
	/* The kernel's time is late by a tick. */
	event.idle_missed = -10 * (double)MS;
	account = account_in(MS, &event);
	assert_int_equal(account.idle.weight, 100 * MS);
	assert_int_equal(account.elsewhere.weight + account.lost[SAMPLE_LOST_BLIND].weight,
			 500 * MS);
	/* A session that samples the idle task lacks these. */
	event.idle_missed = 420 * MS;
	event.takes_idle = true;
	account = account_in(MS, &event);
	assert_int_equal(account.idle.weight, 0);
	assert_int_equal(account.elsewhere.weight + account.lost[SAMPLE_LOST_BLIND].weight,
			 500 * MS);
}

static void less_than_a_period_of_each_cpu_is_no_loss(void **state __unused)
{
	struct sampled_event event = {.sum = {.seen.all = {99, 991}}, .kept = {99, 991}};
	struct sample_account account = account_of(&event);

	assert_int_equal(account.thinned, 9);
	assert_int_equal(account.lost[SAMPLE_LOST_BLIND].weight, 0);
	event.sum.seen.all = (struct sample_count){99, 990};
	event.kept = (struct sample_sum){99, 990};
	account = account_of(&event);
	assert_int_equal(account.thinned, 0);
	assert_int_equal(account.lost[SAMPLE_LOST_BLIND].weight, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shortest_period_of_a_cpu_counts),
		cmocka_unit_test(the_highest_frequency_counts),
		cmocka_unit_test(a_session_that_stops_collecting_does_not_count),
		cmocka_unit_test(the_fastest_session_of_each_slot_fills_the_stores),
		cmocka_unit_test(cycles_have_the_period_of_the_fastest_cpu),
		cmocka_unit_test(clocks_and_cycles_have_periods),
		cmocka_unit_test(a_key_has_its_parts_and_no_other),
		cmocka_unit_test(only_a_key_of_all_its_words_has_a_form),
		cmocka_unit_test(a_stack_is_read_until_it_is_overwritten),
		cmocka_unit_test(a_wrong_number_of_frames_is_not_believed),
		cmocka_unit_test(touching_ranges_are_one),
		cmocka_unit_test(an_address_is_in_the_ranges_of_its_sessions),
		cmocka_unit_test(ranges_without_room_change_nothing),
		cmocka_unit_test(single_samples_belong_to_their_rows),
		cmocka_unit_test(throttling_takes_time_of_clocks),
		cmocka_unit_test(throttling_hides_counts_of_hardware),
		cmocka_unit_test(what_no_sample_has_is_split_among_those_who_ran),
		cmocka_unit_test(idle_time_without_samples_is_left_out),
		cmocka_unit_test(less_than_a_period_of_each_cpu_is_no_loss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

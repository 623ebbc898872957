// SPDX-License-Identifier: GPL-2.0
/*
 * Puts any numbers into the tables of sampling, and changes them while a session reads them. The code must stay
 * within the tables and hand over whole entries, and every loop must end. Changes between operations and entries
 * repeat exactly; a thread makes changes at any moment.
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/lib/address_ranges.h"
#include "util/sample/sample_account.h"
#include "util/sample/sample_collect.h"
#include "util/sample/sample_ranges.h"
#include "util/sample/sample_rate.h"
#include "util/sample/sampler_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NR_CPUS	   2
#define NR_EVENTS  2
#define NR_SINGLES 8

/* One change: a word of a table, by its place, and its new value. */
struct change {
	uint16_t at;
	uint8_t table;
	uint8_t is_wide; /* all bits of the value, not just its lower byte, are meant */
	uint32_t value;
};

/* An operation. It has the size of a change, so that the input can mix both. */
struct op {
	uint8_t what;
	uint8_t nr;
	uint16_t a;
	uint32_t b;
};

static_assert(sizeof(struct change) == 8 && sizeof(struct op) == 8, "as read from the input");

/* Each has a heap block of its own, so that the sanitizer finds accesses behind its end. */
static struct {
	struct sample_plan *plan;
	struct sample_cpu *cpus;
	struct sample_table *tables;
	struct sample_record *records;
} memory;

static struct sampler sampler;
static struct sampled_event events[NR_EVENTS];

static const struct change *changes;
static size_t nr_changes, next_change;

/* --- changes --- */

static uint64_t *word_of(void *table, size_t size, uint32_t at)
{
	return (uint64_t *)table + at % (size / sizeof(uint64_t));
}

/* Return: the word of a change. Rows are hit with all of their words, and most other tables at their front. */
static uint64_t *find_word(const struct change *change)
{
	struct sample_table *table = &memory.tables[change->at % NR_CPUS];

	switch (change->table % 8) {
	case 0:
		return word_of(memory.plan, sizeof(*memory.plan), change->at);
	case 1:
		return word_of(&memory.plan->ranges.half[change->at % 2],
			       sizeof(memory.plan->ranges.half[0]), change->at / 2);
	case 2:
		return word_of(memory.cpus, sizeof(*memory.cpus), change->at);
	case 3:
		return (uint64_t *)&memory.cpus[change->at % NR_CPUS].head;
	case 4:
		return word_of(memory.tables, sizeof(*memory.tables), change->at);
	case 5:
		return word_of(memory.records, 2 * NR_CPUS * NR_SINGLES * sizeof(*memory.records),
			       change->at);
	default:
		return word_of(&table->rows[change->at / 2 % 2][change->at / 4 % 16],
			       sizeof(table->rows[0][0]), change->at / 64);
	}
}

static void apply(const struct change *change)
{
	uint64_t value = change->is_wide % 2 ? change->value * 0x100000001ULL : change->value % 256;

	__atomic_store_n(find_word(change), value, __ATOMIC_RELAXED);
}

static void change_one(void)
{
	if (nr_changes)
		apply(&changes[next_change++ % nr_changes]);
}

static void *change_at_any_time(void *arg)
{
	uint64_t chance = 1;

	for (;;) {
		struct change change;

		chance = chance * 6364136223846793005ULL + 1442695040888963407ULL;
		memcpy(&change, &chance, sizeof(change));
		/* Positions of stacks must stay near the head, or none would be read. */
		if (change.table % 8 != 3)
			apply(&change);
		if (!(chance >> 57))
			sched_yield();
	}
	return arg;
}

/* --- operations --- */

/* A session gets whole entries, also if the tables change meanwhile. */
static int take(void *ctx, const struct sample_entry *entry)
{
	uint64_t *sum = ctx, left = entry->weight;

	assert(entry->event >= 0 && entry->event < NR_EVENTS);
	assert(strnlen(entry->comm, sizeof(((struct sample_row *)0)->comm)) <
	       sizeof(((struct sample_row *)0)->comm));
	assert(entry->nr_kernel <= STACK_FRAMES && entry->nr_user <= STACK_FRAMES);
	for (int i = 0; i < (int)entry->nr_kernel; i++)
		*sum += entry->kernel_ips[i];
	for (int i = 0; i < (int)entry->nr_user; i++)
		*sum += entry->user_ips[i];
	assert(entry->nr_singles <= NR_SINGLES && entry->nr_singles <= entry->nr_samples);
	for (uint32_t i = 0; i < entry->nr_singles; i++) {
		assert(entry->singles[i].weight <= left);
		left -= entry->singles[i].weight;
	}
	change_one();
	assert(strnlen(entry->comm, sizeof(((struct sample_row *)0)->comm)) <
	       sizeof(((struct sample_row *)0)->comm));
	return 0;
}

static void set_ranges(const struct op *op)
{
	struct address_ranges ranges = {};

	for (int i = 0; i < op->nr % 4; i++) {
		uint64_t start = (uint64_t)op->b << (i * 8);

		assert(!address_ranges__add(&ranges, start, start + 1 + op->a));
	}
	address_ranges__sort(&ranges);
	(void)sample_ranges__set(&memory.plan->ranges, op->a % MAX_SAMPLERS,
				 op->nr % 8 ? &ranges : NULL);
	address_ranges__clear(&ranges);
}

static void work(const struct op *op)
{
	struct sample_account account;
	uint64_t sum = 0;

	switch (op->what % 5) {
	case 0:
		sampler.options.max_frames = 1 + op->nr % STACK_FRAMES;
		assert(!sample_collect__all(&sampler, take, &sum));
		break;
	case 1:
		(void)sample_rate__needed(memory.plan, op->nr % MAX_SAMPLE_SLOTS, op->a);
		break;
	case 2:
		set_ranges(op);
		break;
	case 3:
		(void)sample_ranges__at(&memory.plan->ranges, (uint64_t)op->b << op->nr % 64);
		break;
	case 4:
		sample_account__get(&sampler, op->nr % NR_EVENTS, &account);
		break;
	}
	change_one();
}

/* --- the session --- */

static void make_memory(void)
{
	pthread_t thread;

	memory.plan = calloc(1, sizeof(*memory.plan));
	memory.cpus = calloc(NR_CPUS, sizeof(*memory.cpus));
	memory.tables = calloc(NR_CPUS, sizeof(*memory.tables));
	memory.records = calloc(2UL * NR_CPUS * NR_SINGLES, sizeof(*memory.records));
	assert(memory.plan && memory.cpus && memory.tables && memory.records);
	sampler.object = (struct sample_object){
		.nr_cpus = NR_CPUS, .plan = memory.plan, .cpus = memory.cpus};
	sampler.tables = memory.tables;
	sampler.events = events;
	sampler.nr_events = NR_EVENTS;
	sampler.events_of_slot[1] = 1;
	sampler.options.nr_singles = NR_SINGLES;
	sampler.singles = (struct sample_singles){
		.nr_cpus = NR_CPUS,
		.size = NR_SINGLES,
		.records = memory.records,
		.taken = calloc(NR_SINGLES, sizeof(*sampler.singles.taken)),
		.copy = calloc(NR_SINGLES, sizeof(*sampler.singles.copy)),
	};
	for (int i = 0; i < NR_EVENTS; i++) {
		events[i].slot = i;
		events[i].rate = 1 + i;
		events[i].is_periodic = i;
	}
	assert(!pthread_create(&thread, NULL, change_at_any_time, NULL));
}

/* Use half of the input as changes of the memory, the other half as operations. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t nr = size / sizeof(struct op), nr_ops = nr / 2;
	struct op *copy = malloc(nr * sizeof(*copy) + 1);

	assert(copy);
	memcpy(copy, data, nr * sizeof(*copy));
	if (!memory.plan)
		make_memory();
	for (int cpu = 0; cpu < NR_CPUS; cpu++)
		memory.cpus[cpu].head = 2 * STORE_WORDS;
	changes = (const struct change *)(copy + nr_ops);
	nr_changes = nr - nr_ops;
	next_change = 0;
	for (size_t i = 0; i < nr_changes; i += 2)
		change_one();
	for (size_t i = 0; i < nr_ops; i++)
		work(&copy[i]);
	nr_changes = 0;
	free(copy);
	return 0;
}

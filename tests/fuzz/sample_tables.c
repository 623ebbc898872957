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

#include "tests/fuzz/changes.h"
#include "util/lib/address_ranges.h"
#include "util/sample/sample_account.h"
#include "util/sample/sample_collect.h"
#include "util/sample/sample_ranges.h"
#include "util/sample/sample_rate.h"
#include "util/sample/sampler_internal.h"

#define NR_CPUS	   2
#define NR_EVENTS  2
#define NR_SINGLES 8

/* Each has a heap block of its own, so that the sanitizer finds accesses behind its end. */
static struct {
	struct sample_plan *plan;
	struct sample_cpu *cpus;
	struct sample_table *tables;
	struct sample_record *records;
} memory;

static struct sampler sampler;
static struct sampled_event events[NR_EVENTS];

/* --- changes --- */

static uint64_t *word_of(void *table, size_t size, uint32_t at)
{
	return (uint64_t *)table + at % (size / sizeof(uint64_t));
}

/* Return: the word of a change. Rows are hit with all of their words, and most other tables at their front. */
static uint64_t *find_word(const struct change *change)
{
	struct sample_table *table = &memory.tables[change->entry % NR_CPUS];

	switch (change->table % 8) {
	case 0:
		return word_of(memory.plan, sizeof(*memory.plan), change->entry);
	case 1:
		return word_of(&memory.plan->ranges.half[change->entry % 2],
			       sizeof(memory.plan->ranges.half[0]), change->entry / 2);
	case 2:
		return word_of(memory.cpus, sizeof(*memory.cpus), change->entry);
	case 3:
		return (uint64_t *)&memory.cpus[change->entry % NR_CPUS].head;
	case 4:
		return word_of(memory.tables, sizeof(*memory.tables), change->entry);
	case 5:
		return word_of(memory.records, 2 * NR_CPUS * NR_SINGLES * sizeof(*memory.records),
			       change->entry);
	default:
		return word_of(&table->rows[change->entry / 2 % 2][change->entry / 4 % 16],
			       sizeof(table->rows[0][0]), change->entry / 64);
	}
}

/* The field tells whether all bits of the value are meant, or its lowest byte. */
static void apply(const struct change *change)
{
	uint64_t value = change->field % 2 ? change->value * 0x100000001ULL : change->value % 256;

	__atomic_store_n(find_word(change), value, __ATOMIC_RELAXED);
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
		assert(!sample_collect__all(&sampler, NULL, take, &sum));
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

static void begin(void)
{
	if (!memory.plan)
		make_memory();
	for (int cpu = 0; cpu < NR_CPUS; cpu++)
		memory.cpus[cpu].head = 2 * STORE_WORDS;
}

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_FUZZ_CHANGES_H
#define PERF_FUZZ_CHANGES_H

/*
 * Fuzzing of tables that change while they are read. Half of the input is operations, the other half is changes
 * of the tables' words, which hooks make in the midst of operations.
 *
 * The one file that includes this defines begin(), apply() and work().
 */

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One change: the table, entry and field of the word to change. */
struct change {
	uint8_t table;
	uint8_t field;
	uint16_t entry;
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

/* Set the tables as they are before all changes. The first call makes them. */
static void begin(void);
static void apply(const struct change *change);
static void work(const struct op *op);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The lock is for a thread that also makes these changes. */
static const struct change *changes;
static size_t nr_changes, next_change;
static pthread_mutex_t changes_lock = PTHREAD_MUTEX_INITIALIZER;

static void change_one(void)
{
	if (nr_changes)
		apply(&changes[next_change++ % nr_changes]);
}

static void set_changes(const void *list, size_t nr)
{
	pthread_mutex_lock(&changes_lock);
	changes = list;
	nr_changes = nr;
	next_change = 0;
	pthread_mutex_unlock(&changes_lock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t nr = size / sizeof(struct op), nr_ops = nr / 2;
	struct op *copy = malloc(nr * sizeof(*copy) + 1);

	assert(copy);
	memcpy(copy, data, nr * sizeof(*copy));
	begin();
	set_changes(copy + nr_ops, nr - nr_ops);
	for (size_t i = 0; i < nr_changes; i += 2)
		change_one();
	for (size_t i = 0; i < nr_ops; i++)
		work(&copy[i]);
	set_changes(NULL, 0);
	free(copy);
	return 0;
}

#endif

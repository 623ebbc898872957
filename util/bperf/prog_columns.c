// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/prog_columns.h"

#include "util/bperf/shared_word.h"

#include <errno.h>

static void set_column(struct prog_column *column, __u32 slot, __u32 first)
{
	column->slot = slot;
	__atomic_store_n(&column->first, first, __ATOMIC_RELEASE);
}

static bool is_free(const struct prog_column *column)
{
	return column->first == NO_EVENT;
}

/* A group's users stand with its leader. */
bool prog_columns__is_wanted(const struct registry *reg, const struct reg_pair *pair, __u32 slot)
{
	__u32 leader;

	if (slot >= MAX_EVENTS || reg->event[slot].state != REG_READY)
		return false;
	leader = shared_id(&reg->event[slot].leader, MAX_EVENTS);
	for (int w = 0; w < MAX_SESSIONS / 64; w++) {
		if (pair->users[w] & reg->event[leader].users[w])
			return true;
	}
	return false;
}

static __u32 nr_columns(const struct prog_columns *plan)
{
	return shared_nr(&plan->nr, MAX_COLUMNS);
}

int prog_columns__find(const struct prog_columns *plan, __u32 slot)
{
	__u32 nr = nr_columns(plan);

	for (__u32 i = 0; i < nr; i++) {
		if (!is_free(&plan->column[i]) && plan->column[i].slot == slot)
			return i;
	}
	return -1;
}

/* The first that is free, if need be a new one; -1: there are as many as there can be. */
static int new_column(const struct prog_columns *plan)
{
	__u32 nr = nr_columns(plan);

	for (__u32 i = 0; i < nr; i++) {
		if (is_free(&plan->column[i]))
			return i;
	}
	return nr < MAX_COLUMNS ? (int)nr : -1;
}

static bool has_foreign(const struct prog_columns *plan, bool (*is_foreign)(void *ctx, int slot),
			void *ctx)
{
	__u32 nr = nr_columns(plan);

	for (__u32 i = 0; i < nr; i++) {
		if (!is_free(&plan->column[i]) &&
		    is_foreign(ctx, shared_id(&plan->column[i].slot, MAX_EVENTS)))
			return true;
	}
	return false;
}

int prog_columns__update(const struct registry *reg, const struct reg_pair *pair,
			 struct prog_columns *plan, bool (*is_foreign)(void *ctx, int slot),
			 void *ctx, bool *is_new)
{
	__u32 nr = nr_columns(plan), nr_quick;
	int err = 0;

	for (__u32 i = 0; i < nr; i++) {
		struct prog_column *column = &plan->column[i];

		if (!is_free(column) && !prog_columns__is_wanted(reg, pair, column->slot))
			set_column(column, 0, NO_EVENT);
	}
	for (__u32 slot = 0; slot < MAX_EVENTS; slot++) {
		int i;

		if (!prog_columns__is_wanted(reg, pair, slot) ||
		    prog_columns__find(plan, slot) >= 0)
			continue;
		i = new_column(plan);
		if (i < 0) {
			err = -ENOSPC;
			continue;
		}
		set_column(&plan->column[i], slot, slot * reg->nr_cpus);
		*is_new = true;
		/* Programs look at a column when the number says so. */
		if (i == (int)nr_columns(plan))
			__atomic_store_n(&plan->nr, i + 1, __ATOMIC_RELEASE);
	}
	for (nr = nr_columns(plan); nr && is_free(&plan->column[nr - 1]); nr--)
		__atomic_store_n(&plan->nr, nr - 1, __ATOMIC_RELEASE);
	nr_quick = has_foreign(plan, is_foreign, ctx) ? 0 : nr < QUICK_COLUMNS ? nr : QUICK_COLUMNS;
	__atomic_store_n(&plan->nr_quick, nr_quick, __ATOMIC_RELEASE);
	return err;
}

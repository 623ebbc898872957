// SPDX-License-Identifier: GPL-2.0
/* Which events are read at a BPF program: pure logic over the memory that runs share. */
#include "prog_pair.h"

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
bool prog_plan__is_wanted(const struct registry *reg, const struct reg_pair *pair, __u32 slot)
{
	const struct reg_event *event = &reg->event[slot];

	if (event->state != REG_READY)
		return false;
	for (int w = 0; w < MAX_RUNS / 64; w++) {
		if (pair->users[w] & reg->event[event->leader].users[w])
			return true;
	}
	return false;
}

static int find_column(const struct prog_plan *plan, __u32 slot)
{
	for (__u32 i = 0; i < plan->nr; i++) {
		if (!is_free(&plan->column[i]) && plan->column[i].slot == slot)
			return i;
	}
	return -1;
}

/* The first that is free, if need be a new one; -1: there are as many as there can be. */
static int new_column(const struct prog_plan *plan)
{
	for (__u32 i = 0; i < plan->nr; i++) {
		if (is_free(&plan->column[i]))
			return i;
	}
	return plan->nr < MAX_COLUMNS ? (int)plan->nr : -1;
}

static bool has_foreign(const struct prog_plan *plan, bool (*is_foreign)(void *ctx, int slot),
			void *ctx)
{
	for (__u32 i = 0; i < plan->nr; i++) {
		if (!is_free(&plan->column[i]) && is_foreign(ctx, plan->column[i].slot))
			return true;
	}
	return false;
}

int prog_plan__update(const struct registry *reg, const struct reg_pair *pair,
		      struct prog_plan *plan, bool (*is_foreign)(void *ctx, int slot), void *ctx,
		      bool *is_new)
{
	__u32 nr_quick;
	int err = 0;

	for (__u32 i = 0; i < plan->nr; i++) {
		struct prog_column *column = &plan->column[i];

		if (!is_free(column) && !prog_plan__is_wanted(reg, pair, column->slot))
			set_column(column, 0, NO_EVENT);
	}
	for (__u32 slot = 0; slot < MAX_EVENTS; slot++) {
		int i;

		if (!prog_plan__is_wanted(reg, pair, slot) || find_column(plan, slot) >= 0)
			continue;
		i = new_column(plan);
		if (i < 0) {
			err = -ENOSPC;
			continue;
		}
		set_column(&plan->column[i], slot, slot * reg->nr_cpus);
		*is_new = true;
		/* Programs look at a column when the number says so. */
		if (i == (int)plan->nr)
			__atomic_store_n(&plan->nr, i + 1, __ATOMIC_RELEASE);
	}
	while (plan->nr && is_free(&plan->column[plan->nr - 1]))
		__atomic_store_n(&plan->nr, plan->nr - 1, __ATOMIC_RELEASE);
	nr_quick = has_foreign(plan, is_foreign, ctx) ? 0 :
		   plan->nr < QUICK_COLUMNS	      ? plan->nr :
							QUICK_COLUMNS;
	__atomic_store_n(&plan->nr_quick, nr_quick, __ATOMIC_RELEASE);
	return err;
}

int prog_pair__column(const struct prog_pair *pair, int slot)
{
	return find_column(pair->plan, slot);
}

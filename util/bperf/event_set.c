// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/event_set.h"

#include "util/bperf/crash_point.h"

#include <errno.h>
#include <string.h>

static bool is_set_used(const struct scope_tables *c, int set)
{
	__u32 nr_scopes = scope_set__nr_scopes(c->reg), nr = scope_set__nr(c);

	for (__u32 i = 1; i < nr_scopes; i++) {
		if (c->reg->scope[i].session && c->reg->scope[i].set == (__u32)set)
			return true;
	}
	for (__u32 i = 1; i < nr; i++) {
		if (c->scope_set[i].state != REG_FREE &&
		    (c->scope_set[i].set == (__u32)set || c->scope_set[i].pool_set == (__u32)set))
			return true;
	}
	return c->scope_set[0].pool_set == (__u32)set;
}

/* @want is ours, and so not larger than a set can be. */
static bool is_same_set(const struct reg_set *set, const struct reg_set *want)
{
	return set->nr == want->nr &&
	       !memcmp(set->slot, want->slot, want->nr * sizeof(want->slot[0])) &&
	       !memcmp(set->is_switches, want->is_switches, want->nr);
}

int event_set__room(const struct scope_tables *c)
{
	return scope_tables__room(c, crash_point__setting(CRASH_MAX_SETS, MAX_SETS));
}

static int intern_set(struct scope_tables *c, const struct reg_set *want)
{
	const int room = event_set__room(c);
	int free_set = -1;

	if (!want->nr)
		return 0;
	for (int i = 1; i < MAX_SETS; i++) {
		if (is_same_set(&c->set[i], want))
			return i;
	}
	/* A program that is just looking can still read a set that no scope set uses. So take empty sets
	 * first, and rewrite none of which anything is in use. */
	for (int i = 1; i < room && free_set < 0; i++) {
		if (!c->set[i].nr)
			free_set = i;
	}
	for (int i = 1; i < room && free_set < 0; i++) {
		if (!is_set_used(c, i))
			free_set = i;
	}
	if (free_set < 0)
		return scope_tables__no_room(c, FULL_SETS);
	c->set[free_set].nr = 0;
	scope_tables__step(c, "event-set-emptied");
	memcpy(c->set[free_set].slot, want->slot, sizeof(want->slot));
	memcpy(c->set[free_set].is_switches, want->is_switches, sizeof(want->is_switches));
	memcpy(c->set[free_set].mask, want->mask, sizeof(want->mask));
	c->set[free_set].has_switches = 0;
	for (__u32 i = 0; i < want->nr; i++)
		c->set[free_set].has_switches |= want->is_switches[i] != SWITCH_EVENT_NONE;
	scope_tables__step(c, "event-set-written");
	__atomic_store_n(&c->set[free_set].nr, want->nr, __ATOMIC_RELEASE);
	scope_tables__step(c, "event-set-added");
	return free_set;
}

int event_set__add(struct scope_tables *c, const __u16 *slots, const __u8 *is_switches, int nr)
{
	struct reg_set want = {.nr = nr};

	if (nr > SET_EVENTS)
		return -E2BIG;
	for (int i = 0; i < nr; i++) {
		want.slot[i] = slots[i];
		want.is_switches[i] = is_switches[i];
		want.mask[slots[i] / 64] |= 1ULL << slots[i] % 64;
	}
	return intern_set(c, &want);
}

bool event_set__contains(const struct scope_tables *c, int set, int events)
{
	__u64 lacks = 0;

	for (int w = 0; w < MASK_WORDS; w++)
		lacks |= c->set[events].mask[w] & ~c->set[set].mask[w];
	return !events || !lacks;
}

static struct reg_set copy_set(const struct scope_tables *c, int set)
{
	struct reg_set copy = *(const volatile struct reg_set *)&c->set[set];

	copy.nr = copy.nr < SET_EVENTS ? copy.nr : SET_EVENTS;
	return copy;
}

/* Both are ascending, so the union is a merge. */
int event_set__union(struct scope_tables *c, int a, int b)
{
	const struct reg_set left = copy_set(c, a), right = copy_set(c, b);
	struct reg_set want = {};
	__u32 l = 0, r = 0;

	while (l < left.nr || r < right.nr) {
		const struct reg_set *from = &left;
		__u32 *pos = &l;

		if (l == left.nr || (r < right.nr && right.slot[r] < left.slot[l])) {
			from = &right;
			pos = &r;
		} else if (r < right.nr && right.slot[r] == left.slot[l]) {
			r++;
		}
		if (want.nr == SET_EVENTS)
			return -E2BIG;
		want.slot[want.nr] = from->slot[*pos];
		want.is_switches[want.nr++] = from->is_switches[(*pos)++];
	}
	for (int w = 0; w < MASK_WORDS; w++)
		want.mask[w] = left.mask[w] | right.mask[w];
	return intern_set(c, &want);
}

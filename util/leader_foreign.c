// SPDX-License-Identifier: GPL-2.0
#include "leader_foreign.h"

#include "attr_map.h"
#include "foreign.h"
#include "leader.h"
#include "leader_events.h"
#include "leader_slots.h"
#include "msg.h"
#include "util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- taking hold --- */

static bool is_foreign_on(const struct leader *leader, int slot, int cpu)
{
	return leader->cpus[cpu].base[slot].flags & EVENT_FOREIGN;
}

bool leader_foreign__has(const struct leader *leader, int slot)
{
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		if (is_foreign_on(leader, slot, cpu))
			return true;
	}
	return false;
}

void leader_foreign__forget(const struct leader *leader, int first, int nr)
{
	for (__u32 slot = first; slot < (__u32)(first + nr); slot++)
		bpf_map_delete_elem(leader->map_fds[LEADER_FOREIGN], &slot);
}

bool leader_foreign__find(const struct leader *leader, int first, int nr, __u32 *first_idx)
{
	for (int i = 0; i < nr; i++) {
		struct foreign_event event;
		__u32 slot = first + i;
		struct attr_key key;
		int err;

		leader_slots__public_key(leader, first, nr, i, &key);
		if (foreign__find(leader->attr_map, &key, leader->registry->link_id, leader->nr_cpus,
				  &event))
			return false;
		err = bpf_map_update_elem(leader->map_fds[LEADER_FOREIGN], &slot, &event.map_fd,
					  BPF_ANY);
		close(event.map_fd);
		/* An array that does not keep its events is of another kind. */
		if (err) {
			leader_foreign__forget(leader, first, i);
			return false;
		}
		first_idx[i] = event.first_idx;
	}
	return true;
}

/* All of a group are there on a CPU and count: their time goes on. */
static bool is_alive_on(const struct leader *leader, int first, int nr, int cpu)
{
	const struct event_reading *row = &leader_slots__row(leader, cpu)->event[first];
	uint64_t mask[MASK_WORDS] = {}, before[MAX_EVENTS];

	leader_slots__set_mask(first, nr, mask);
	if (leader__sync(leader, cpu, mask, false))
		return false;
	for (int i = 0; i < nr; i++)
		before[i] = row[i].enabled_ns;
	if (leader__sync(leader, cpu, mask, false))
		return false;
	for (int i = 0; i < nr; i++) {
		if (row[i].err || row[i].enabled_ns == before[i])
			return false;
	}
	return true;
}

bool leader_foreign__has_any(const struct leader *leader)
{
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (leader->registry->event[slot].state != REG_FREE && leader_foreign__has(leader, slot))
			return true;
	}
	return false;
}

void leader_foreign__note(struct leader *leader)
{
	leader__set_mode(leader, MODE_FOREIGN, leader_foreign__has_any(leader));
}

bool leader_foreign__adopt(const struct leader *leader, int first, int nr, int cpu,
			   const __u32 *first_idx)
{
	leader_slots__renew(leader, first, nr, cpu, 0);
	for (int i = 0; i < nr; i++) {
		struct event_base *base = &leader->cpus[cpu].base[first + i];

		base->foreign_idx = first_idx[i] + cpu;
		__atomic_store_n(&base->flags, base->flags | EVENT_FOREIGN, __ATOMIC_RELEASE);
	}
	if (is_alive_on(leader, first, nr, cpu))
		return true;
	leader_slots__drop(leader, first, nr, cpu);
	return false;
}

/* --- those that stand still --- */

/* When the time of an event was last seen to have gone on. */
struct foreign_watch {
	__u64 at_ns;
	__u64 enabled_ns;
};

static struct foreign_watch *watch_of(struct leader *leader, int slot, int cpu)
{
	if (!leader->watch)
		leader->watch = calloc((size_t)leader->nr_cpus * MAX_EVENTS, sizeof(*leader->watch));
	return leader->watch ? &leader->watch[cpu * MAX_EVENTS + slot] : NULL;
}

/* Whether a group stands still on a CPU where it should count. */
static bool is_lame(struct leader *leader, int first, int nr, int cpu)
{
	struct foreign_watch *watch = watch_of(leader, first, cpu);
	const struct event_reading *row = &leader_slots__row(leader, cpu)->event[first];
	uint64_t mask[MASK_WORDS] = {};

	leader_slots__set_mask(first, nr, mask);
	if (!watch || !is_foreign_on(leader, first, cpu) || leader__sync(leader, cpu, mask, false))
		return false;
	if (watch->at_ns && watch->enabled_ns == row->enabled_ns)
		return true;
	watch->at_ns = clock_ns();
	watch->enabled_ns = row->enabled_ns;
	return false;
}

/* Have an event or group that another leader opened opened by ours. */
static void take_over(struct leader *leader, int first, int nr)
{
	struct leader_opening opening = { .leader = leader };

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		const struct foreign_watch *watch = watch_of(leader, first, cpu);
		__u64 gap_ns = 0;
		int ret;

		if (!is_foreign_on(leader, first, cpu))
			continue;
		if (is_lame(leader, first, nr, cpu))
			gap_ns = clock_ns() - watch->at_ns;
		ret = leader_slots__reopen(leader, first, nr, cpu, gap_ns);
		if (ret < 0)
			pr_warn("another leader's event stands still on CPU %d, and ours cannot be opened: %s",
				cpu, strerror(-ret));
	}
	if (leader_foreign__has(leader, first))
		return;
	leader_foreign__forget(leader, first, nr);
	leader_foreign__note(leader);
	leader_events__announce(&opening, first, nr);
}

static bool has_lame(struct leader *leader, int first, int nr)
{
	bool any = false;

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		any |= is_lame(leader, first, nr, cpu);
	return any;
}

int leader_foreign__watch(struct leader *leader)
{
	const struct reg_event *event = leader->registry->event;
	bool any = false;
	int err;

	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (leader_slots__begins(leader, slot))
			any |= has_lame(leader, slot, event[slot].nr_members);
	}
	if (!any)
		return 0;
	err = attr_map__relock(leader->attr_map);
	if (err)
		return err;
	leader__repair(leader);
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (!leader_slots__begins(leader, slot) ||
		    !has_lame(leader, slot, event[slot].nr_members))
			continue;
		pr_verbose("another leader stopped its event: counted by one of our own");
		take_over(leader, slot, event[slot].nr_members);
	}
	attr_map__unlock(leader->attr_map);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "leader_slots.h"

#include "attr_map.h"
#include "leader.h"
#include "perf_event.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

__u32 leader_slots__idx(const struct leader *leader, int slot, int cpu)
{
	return (__u32)slot * leader->nr_cpus + cpu;
}

const struct cpu_readings *leader_slots__row(const struct leader *leader, int cpu)
{
	return (const struct cpu_readings *)leader->readings + cpu;
}

void leader_slots__set_mask(int first, int nr, uint64_t mask[MASK_WORDS])
{
	for (int slot = first; slot < first + nr; slot++)
		mask[slot / 64] |= 1ULL << slot % 64;
}

/* A CPU's epoch is even; what was done in it is odd, so never the 0 of what was never done. */
__u32 leader_slots__epoch(const struct leader *leader, int cpu)
{
	return __atomic_load_n(&leader->cpus[cpu].epoch, __ATOMIC_ACQUIRE) + 1;
}

bool leader_slots__is_done(const struct leader *leader, int slot, int cpu)
{
	return leader->cpus[cpu].base[slot].epoch == leader_slots__epoch(leader, cpu);
}

void leader_slots__set_done(const struct leader *leader, int first, int nr, int cpu, __u32 epoch)
{
	for (int slot = first; slot < first + nr; slot++)
		leader->cpus[cpu].base[slot].epoch = epoch;
}

/* Descriptors are needed only until all members are in the array. */
static int open_group(const struct leader *leader, int first, int nr, int cpu, int *fds,
		      int *refused)
{
	for (int i = 0; i < nr; i++) {
		fds[i] = perf_event__open_shared(&leader->registry->event[first + i].key, cpu,
						 i ? fds[0] : -1, !i && nr > 1);
		if (fds[i] < 0) {
			int err = fds[i];

			*refused = i;
			while (i--)
				close(fds[i]);
			return err;
		}
	}
	/* Fails for a CPU that went offline meanwhile, and then there is nothing to count. */
	if (nr > 1)
		(void)perf_event__start_group(fds[0]);
	return 0;
}

static int insert(const struct leader *leader, int first, int nr, int cpu, int *fds)
{
	int err = 0;

	for (int i = 0; i < nr; i++) {
		__u32 idx = leader_slots__idx(leader, first + i, cpu);

		if (!err && bpf_map_update_elem(leader->map_fds[LEADER_EVENTS], &idx, &fds[i], BPF_ANY))
			err = -errno;
		close(fds[i]);
	}
	return err;
}

static __u32 own_flags(const struct attr_key *key)
{
	struct perf_event_attr attr;

	memcpy(&attr, key->bytes, sizeof(attr));
	return attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES &&
	       !attr.exclude_kernel ? EVENT_SWITCHES : 0;
}

void leader_slots__renew(const struct leader *leader, int first, int nr, int cpu, __u64 gap_ns)
{
	for (int slot = first; slot < first + nr; slot++) {
		struct event_base *base = &leader->cpus[cpu].base[slot];
		const struct event_reading *last = &leader_slots__row(leader, cpu)->event[slot];

		base->flags = own_flags(&leader->registry->event[slot].key);
		base->counter = last->counter;
		base->enabled_ns = last->enabled_ns + gap_ns;
		base->running_ns = last->running_ns;
		__atomic_store_n(&base->gen, base->gen + 1 ? base->gen + 1 : 1, __ATOMIC_RELEASE);
	}
}

void leader_slots__drop(const struct leader *leader, int first, int nr, int cpu)
{
	for (int slot = first; slot < first + nr; slot++) {
		__u32 idx = leader_slots__idx(leader, slot, cpu);
		__u32 *flags = &leader->cpus[cpu].base[slot].flags;

		__atomic_store_n(flags, *flags & ~EVENT_FOREIGN, __ATOMIC_RELEASE);
		bpf_map_delete_elem(leader->map_fds[LEADER_EVENTS], &idx);
	}
}

int leader_slots__open(const struct leader *leader, int first, int nr, int cpu, int *refused)
{
	int fds[MAX_EVENTS], err;

	err = open_group(leader, first, nr, cpu, fds, refused);
	if (err)
		return err;
	leader_slots__renew(leader, first, nr, cpu, 0);
	return insert(leader, first, nr, cpu, fds);
}

/*
 * The order matters to the programs that read meanwhile, and to the next one who does this if we die:
 * the old events are out before their last readings become the new ones' base; a sync has passed,
 * thus no program still has the old generation in hand, before the new events are in.
 */
int leader_slots__reopen(struct leader *leader, int first, int nr, int cpu, __u64 gap_ns)
{
	const uint64_t no_events[MASK_WORDS] = {};
	uint64_t mask[MASK_WORDS] = {};
	__u32 epoch = leader_slots__epoch(leader, cpu);
	int fds[MAX_EVENTS];
	int err, refused;
	bool is_new;

	leader_slots__set_mask(first, nr, mask);
	err = leader__sync(leader, cpu, mask, false);
	if (err)
		return err == -ENXIO ? 0 : err;
	is_new = leader_slots__row(leader, cpu)->event[first].err == ENOENT;
	leader_slots__drop(leader, first, nr, cpu);
	leader__step("event-dropped");
	leader_slots__renew(leader, first, nr, cpu, gap_ns);
	leader__step("event-renewed");
	err = leader__sync(leader, cpu, no_events, false);
	if (err)
		return err == -ENXIO ? 0 : err;
	err = open_group(leader, first, nr, cpu, fds, &refused);
	if (err)
		return err == -ENODEV ? 0 : err;
	err = insert(leader, first, nr, cpu, fds);
	leader__step("event-reopened");
	if (!err)
		err = leader__sync(leader, cpu, no_events, true);
	if (err)
		return err == -ENXIO ? 0 : err;
	leader_slots__set_done(leader, first, nr, cpu, epoch);
	for (int i = 0; is_new && i < nr; i++)
		leader->registry->event[first + i].nr_open++;
	return 1;
}

void leader_slots__public_key(const struct leader *leader, int first, int nr, int i,
			      struct attr_key *key)
{
	struct attr_key keys[MAX_EVENTS];

	for (int k = 0; k < nr; k++)
		keys[k] = leader->registry->event[first + k].key;
	if (nr == 1)
		*key = keys[0];
	else
		attr_map__group_key(keys, nr, i, key);
}

bool leader_slots__begins(const struct leader *leader, int slot)
{
	const struct reg_event *event = &leader->registry->event[slot];

	return event->state == REG_READY && event->leader == (__u32)slot;
}

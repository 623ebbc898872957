// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/leader_slots.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/crash_point.h"
#include "util/bperf/leader.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_progs.h"
#include "util/bperf/leader_sync.h"
#include "util/host/perf_event.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__u32 leader_slots__idx(const struct bperf_leader *leader, int slot, int cpu)
{
	return (__u32)slot * leader->nr_cpus + cpu;
}

const struct cpu_readings *leader_slots__row(const struct bperf_leader *leader, int cpu)
{
	return (const struct cpu_readings *)leader->readings + cpu;
}

void leader_slots__set_mask(int first, int nr, uint64_t mask[MASK_WORDS])
{
	for (int slot = first; slot < first + nr; slot++)
		mask[slot / 64] |= 1ULL << slot % 64;
}

/* A CPU's epoch is even; what was done in it is odd, so never the 0 of what was never done. */
__u32 leader_slots__epoch(const struct bperf_leader *leader, int cpu)
{
	return __atomic_load_n(&leader->cpus[cpu].epoch, __ATOMIC_ACQUIRE) + 1;
}

uint64_t leader_slots__up_ns(const struct bperf_leader *leader, int cpu)
{
	return __atomic_load_n(&leader->cpus[cpu].up_ns, __ATOMIC_ACQUIRE);
}

bool leader_slots__is_done(const struct bperf_leader *leader, int slot, int cpu)
{
	return leader->cpus[cpu].base[slot].epoch == leader_slots__epoch(leader, cpu);
}

void leader_slots__set_done(const struct bperf_leader *leader, int first, int nr, int cpu,
			    __u32 epoch)
{
	for (int slot = first; slot < first + nr; slot++)
		leader->cpus[cpu].base[slot].epoch = epoch;
}

/* Open a group on a CPU. It counts from perf_event__start_group() on; @is_waiting: so does a single event. */
static int open_group(const struct attr_key *keys, int nr, int cpu, bool is_waiting, int *fds,
		      int *refused)
{
	for (int i = 0; i < nr; i++) {
		union wide_attr wide;

		attr_map__attr(&keys[i], &wide);
		fds[i] = perf_event__open_shared(&wide.attr, cpu, i ? fds[0] : -1,
						 !i && (nr > 1 || is_waiting));
		if (fds[i] < 0) {
			int err = fds[i];

			*refused = i;
			while (i--)
				close(fds[i]);
			return err;
		}
	}
	return 0;
}

static int insert(const struct bperf_leader *leader, int first, int nr, int cpu, const int *fds)
{
	for (int i = 0; i < nr; i++) {
		__u32 idx = leader_slots__idx(leader, first + i, cpu);

		if (bpf_map_update_elem(leader->map_fds[LEADER_EVENTS], &idx, &fds[i], BPF_ANY))
			return -errno;
	}
	return 0;
}

/* Descriptors are needed only until all members are in the array. */
static void close_group(int nr, int *fds)
{
	for (int i = 0; i < nr; i++)
		close_fd(&fds[i]);
}

static __u32 own_flags(const struct attr_key *key)
{
	struct perf_event_attr attr;

	memcpy(&attr, key->bytes, sizeof(attr));
	return attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES &&
			       !attr.exclude_kernel ?
		       EVENT_SWITCHES :
		       0;
}

void leader_slots__renew(const struct bperf_leader *leader, int first, int nr, int cpu,
			 __u64 gap_ns)
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

void leader_slots__drop(const struct bperf_leader *leader, int first, int nr, int cpu)
{
	for (int slot = first; slot < first + nr; slot++) {
		__u32 idx = leader_slots__idx(leader, slot, cpu);
		__u32 *flags = &leader->cpus[cpu].base[slot].flags;

		__atomic_store_n(flags, *flags & ~EVENT_FOREIGN, __ATOMIC_RELEASE);
		bpf_map_delete_elem(leader->map_fds[LEADER_EVENTS], &idx);
	}
}

void leader_slots__set_absent(const struct bperf_leader *leader, int first, int nr, int cpu,
			      bool is_absent)
{
	for (int slot = first; slot < first + nr; slot++)
		__atomic_store_n(&leader->cpus[cpu].base[slot].flags, is_absent ? EVENT_ABSENT : 0,
				 __ATOMIC_RELEASE);
}

static const struct event_reading *snapshot_of(const struct bperf_leader *leader, int cpu,
					       enum scope_set_kind kind)
{
	return kind == SCOPE_SET_TASK ? leader->task_slices[cpu].snapshot :
					leader->cgroup_slices[cpu].snapshot;
}

__u32 leader_slots__failed(const struct bperf_leader *leader, int slot, enum scope_set_kind kind)
{
	__u32 nr = 0;

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		if (!(leader->cpus[cpu].base[slot].flags & EVENT_ABSENT))
			nr += snapshot_of(leader, cpu, kind)[slot].failed;
	}
	return nr;
}

/* The keys of a group; owned by the caller. */
static struct attr_key *copy_keys(const struct bperf_leader *leader, int first, int nr)
{
	struct attr_key *keys = calloc(nr, sizeof(*keys));

	for (int i = 0; keys && i < nr; i++)
		keys[i] = leader->registry->event[first + i].key;
	return keys;
}

int leader_slots__open(const struct bperf_leader *leader, int first, int nr, int cpu, int *refused)
{
	struct attr_key *keys __cleanup(free_ptr) = copy_keys(leader, first, nr);
	int fds[MAX_EVENTS], err;

	if (!keys)
		return -ENOMEM;
	err = open_group(keys, nr, cpu, false, fds, refused);
	if (err)
		return err;
	/* Fails for a CPU that went offline meanwhile, and then there is nothing to count. */
	if (nr > 1)
		(void)perf_event__start_group(fds[0]);
	leader_slots__renew(leader, first, nr, cpu, 0);
	err = insert(leader, first, nr, cpu, fds);
	close_group(nr, fds);
	return err;
}

/* --- new events in the place of others --- */

int leader_slots__note(const struct bperf_leader *leader, int first, int cpu,
		       struct spare_events *spare)
{
	int nr = leader_slots__nr_members(leader, first);

	*spare = (struct spare_events){.first = first, .nr = nr, .cpu = cpu};
	spare->epoch = leader_slots__epoch(leader, cpu);
	spare->keys = copy_keys(leader, first, nr);
	return spare->keys ? 0 : -ENOMEM;
}

int spare_events__open(struct spare_events *spare)
{
	int refused,
		err = open_group(spare->keys, spare->nr, spare->cpu, true, spare->fds, &refused);

	spare->is_open = !err;
	return err;
}

bool leader_slots__is_noted(const struct bperf_leader *leader, const struct spare_events *spare)
{
	int first = spare->first;

	if (spare->epoch != leader_slots__epoch(leader, spare->cpu) ||
	    !leader_slots__begins(leader, first) ||
	    leader_slots__nr_members(leader, first) != spare->nr)
		return false;
	for (int i = 0; i < spare->nr; i++) {
		if (memcmp(&spare->keys[i], &leader->registry->event[first + i].key,
			   sizeof(*spare->keys)))
			return false;
	}
	return true;
}

void spare_events__clear(struct spare_events *spare)
{
	if (spare->is_open)
		close_group(spare->nr, spare->fds);
	free_ptr(&spare->keys);
}

/*
 * The order matters to the programs that read meanwhile, and to the next session that does this if we die.
 * First the old events go, then their last readings become the base of the new ones. The new events come
 * only after a sync, when no program still has the old generation in hand.
 */
int leader_slots__replace(struct bperf_leader *leader, const struct spare_events *spare,
			  __u64 gap_ns)
{
	const uint64_t no_events[MASK_WORDS] = {};
	int first = spare->first, nr = spare->nr, cpu = spare->cpu, err;
	uint64_t mask[MASK_WORDS] = {};
	bool is_new;

	leader_slots__set_mask(first, nr, mask);
	err = leader_sync__cpu(leader, cpu, mask);
	if (err)
		return err == -ENXIO ? 0 : err;
	is_new = leader_slots__row(leader, cpu)->event[first].err == ENOENT;
	leader_slots__drop(leader, first, nr, cpu);
	leader_slots__set_done(leader, first, nr, cpu, EPOCH_REPLACED);
	crash_point__reach("event-dropped");
	leader_slots__renew(leader, first, nr, cpu, gap_ns);
	crash_point__reach("event-renewed");
	err = leader_sync__cpu(leader, cpu, no_events);
	if (err)
		return err == -ENXIO ? 0 : err;
	/* Not before: a window that began meanwhile has none of it. It fails for a CPU that has gone. */
	(void)perf_event__start_group(spare->fds[0]);
	err = insert(leader, first, nr, cpu, spare->fds);
	crash_point__reach("event-reopened");
	/* From now on programs read the events, and the sync begins slices with them. */
	if (!err)
		leader_slots__set_done(leader, first, nr, cpu, spare->epoch);
	crash_point__reach("event-current");
	/* Programs that charge tasks were loaded if ever a session counted some. */
	leader_progs__hold(leader, PROGS_TASKS);
	if (!err)
		err = leader_sync__task(leader, cpu);
	if (err)
		return err == -ENXIO ? 0 : err;
	for (int i = 0; is_new && i < nr; i++)
		leader->registry->event[first + i].nr_open++;
	return 1;
}

void leader_slots__public_key(const struct bperf_leader *leader, int first, int nr, int i,
			      struct attr_key *key)
{
	struct attr_key keys[MAX_EVENTS];

	/* Numbers of shared memory may be wrong; the key of nothing meets no event. */
	if (first < 0 || nr < 1 || nr > MAX_EVENTS - first || i >= nr) {
		memset(key, 0, sizeof(*key));
		return;
	}
	for (int k = 0; k < nr; k++)
		keys[k] = leader->registry->event[first + k].key;
	if (nr == 1)
		*key = keys[0];
	else
		attr_map__group_key(keys, nr, i, key);
}

int leader_slots__nr_members(const struct bperf_leader *leader, int slot)
{
	__u32 nr = shared_nr(&leader->registry->event[slot].nr_members, MAX_EVENTS - slot);

	return nr ? nr : 1;
}

bool leader_slots__begins(const struct bperf_leader *leader, int slot)
{
	const struct reg_event *event = &leader->registry->event[slot];

	return __atomic_load_n(&event->state, __ATOMIC_ACQUIRE) == REG_READY &&
	       event->leader == (__u32)slot;
}

bool leader_slots__is_foreign(const struct bperf_leader *leader, int slot, int cpu)
{
	return leader->cpus[cpu].base[slot].flags & EVENT_FOREIGN;
}

bool leader_slots__has_foreign(const struct bperf_leader *leader, int slot)
{
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		if (leader_slots__is_foreign(leader, slot, cpu))
			return true;
	}
	return false;
}

bool leader_slots__has_any_foreign(const struct bperf_leader *leader)
{
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (leader->registry->event[slot].state != REG_FREE &&
		    leader_slots__has_foreign(leader, slot))
			return true;
	}
	return false;
}

void leader_slots__note_foreign(struct bperf_leader *leader)
{
	if (!(leader->cpus[0].mode & MODE_FOREIGN) || leader_slots__has_any_foreign(leader))
		return;
	bperf_leader__set_mode(leader, MODE_FOREIGN, false);
	/* A session that opens events needs no lock, and sets the mode before it adopts any. */
	if (leader_slots__has_any_foreign(leader))
		bperf_leader__set_mode(leader, MODE_FOREIGN, true);
}

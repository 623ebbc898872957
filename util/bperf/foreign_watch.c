// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/foreign_watch.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/foreign_events.h"
#include "util/bperf/leader_announce.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_slots.h"
#include "util/bperf/leader_sync.h"
#include "util/host/capability.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* When the time of an event was last seen to have gone on. */
struct foreign_watch {
	__u64 at_ns;
	__u64 enabled_ns;
};

static struct foreign_watch *watch_of(struct bperf_leader *leader, int slot, int cpu)
{
	if (!leader->watch)
		leader->watch =
			calloc((size_t)leader->nr_cpus * MAX_EVENTS, sizeof(*leader->watch));
	return leader->watch ? &leader->watch[cpu * MAX_EVENTS + slot] : NULL;
}

/* Return: whether a group stands still on a CPU where it should count. */
static bool is_lame(struct bperf_leader *leader, int first, int nr, int cpu)
{
	struct foreign_watch *watch = watch_of(leader, first, cpu);
	const struct event_reading *row = &leader_slots__row(leader, cpu)->event[first];
	uint64_t mask[MASK_WORDS] = {};

	leader_slots__set_mask(first, nr, mask);
	if (!watch || !leader_slots__is_foreign(leader, first, cpu) ||
	    leader_sync__cpu(leader, cpu, mask))
		return false;
	if (watch->at_ns && watch->enabled_ns == row->enabled_ns)
		return true;
	watch->at_ns = clock_ns();
	watch->enabled_ns = row->enabled_ns;
	return false;
}

/*
 * Under the lock: replace a foreign event or group on a CPU by one of our own, if nobody else has meanwhile.
 *
 * @err: of opening ours
 */
static void replace(struct bperf_leader *leader, const struct spare_events *spare, int err)
{
	int first = spare->first, cpu = spare->cpu;
	const struct foreign_watch *watch = watch_of(leader, first, cpu);
	static bool has_warned; /* it is tried again at each look */
	__u64 gap_ns = 0;

	if (!leader_slots__is_noted(leader, spare) || !leader_slots__is_foreign(leader, first, cpu))
		return;
	if (is_lame(leader, first, spare->nr, cpu))
		gap_ns = clock_ns() - watch->at_ns;
	if (!err)
		err = leader_slots__replace(leader, spare, gap_ns);
	if (err < 0 && !has_warned)
		pr_warn("foreign event stopped on CPU %d, and ours cannot be opened: %s", cpu,
			strerror(-err));
	has_warned |= err < 0;
	if (leader_slots__has_foreign(leader, first))
		return;
	/* The foreign leader's array goes, and the entry becomes ours. */
	foreign_events__forget(leader, first, spare->nr);
	leader_slots__note_foreign(leader);
	leader_announce__group(leader, first, spare->nr);
}

/* Return: 0, or -errno: the lock was not had. */
static int take_over_on(struct bperf_leader *leader, int first, int cpu)
{
	struct spare_events spare __cleanup(spare_events__clear) = {};
	int err = leader_slots__note(leader, first, cpu, &spare), lock_err;

	if (!err)
		err = spare_events__open(&spare);
	if (err == -ENODEV || !spare.keys)
		return 0;
	lock_err = attr_map__try_relock(leader->attr_map);
	if (lock_err)
		return lock_err;
	replace(leader, &spare, err);
	attr_map__unlock(leader->attr_map);
	return 0;
}

/* Return: as above */
static int take_over(struct bperf_leader *leader, int first)
{
	int err = 0;

	for (int cpu = 0; cpu < leader->nr_cpus && !err; cpu++) {
		if (leader_slots__is_foreign(leader, first, cpu))
			err = take_over_on(leader, first, cpu);
	}
	return err;
}

static bool has_lame(struct bperf_leader *leader, int first)
{
	int nr = leader_slots__nr_members(leader, first);
	bool any = false;

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		any |= is_lame(leader, first, nr, cpu);
	return any;
}

int foreign_watch__look(struct bperf_leader *leader)
{
	int err = 0;

	capability__raise();
	for (int slot = 0; slot < MAX_EVENTS && !err; slot++) {
		if (!leader_slots__begins(leader, slot) || !has_lame(leader, slot))
			continue;
		pr_verbose("another leader stopped its event: counted by one of our own");
		err = take_over(leader, slot);
	}
	capability__lower();
	return err;
}

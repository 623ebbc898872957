// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/foreign_watch.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/foreign_events.h"
#include "util/bperf/leader_announce.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_slots.h"
#include "util/bperf/leader_sync.h"
#include "util/bperf/session.h"
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

/* Replace a foreign event or group by one of our own. */
static void take_over(struct bperf_leader *leader, int first, int nr)
{
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		const struct foreign_watch *watch = watch_of(leader, first, cpu);
		__u64 gap_ns = 0;
		int ret;

		if (!leader_slots__is_foreign(leader, first, cpu))
			continue;
		if (is_lame(leader, first, nr, cpu))
			gap_ns = clock_ns() - watch->at_ns;
		ret = leader_slots__reopen(leader, first, nr, cpu, gap_ns);
		if (ret < 0)
			pr_warn("foreign event stopped on CPU %d, and ours cannot be opened: %s",
				cpu, strerror(-ret));
	}
	if (leader_slots__has_foreign(leader, first))
		return;
	foreign_events__forget(leader, first, nr);
	leader_slots__note_foreign(leader);
	leader_announce__group(leader, first, nr);
}

static bool has_lame(struct bperf_leader *leader, int first, int nr)
{
	bool any = false;

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		any |= is_lame(leader, first, nr, cpu);
	return any;
}

int foreign_watch__look(struct bperf_leader *leader)
{
	bool any = false;
	int err;

	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (leader_slots__begins(leader, slot))
			any |= has_lame(leader, slot, leader_slots__nr_members(leader, slot));
	}
	if (!any)
		return 0;
	err = attr_map__try_relock(leader->attr_map);
	if (err)
		return err;
	session__repair(leader);
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		int nr = leader_slots__nr_members(leader, slot);

		if (!leader_slots__begins(leader, slot) || !has_lame(leader, slot, nr))
			continue;
		pr_verbose("another leader stopped its event: counted by one of our own");
		take_over(leader, slot, nr);
	}
	session__unlock(leader);
	return 0;
}

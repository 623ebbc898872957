// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/foreign_events.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/identify.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_links.h"
#include "util/bperf/leader_slots.h"
#include "util/bperf/leader_sync.h"

#include <bpf/bpf.h>
#include <unistd.h>

void foreign_events__forget(const struct bperf_leader *leader, int first, int nr)
{
	for (__u32 slot = first; slot < (__u32)(first + nr); slot++)
		bpf_map_delete_elem(leader->map_fds[LEADER_FOREIGN], &slot);
}

bool foreign_events__find(const struct bperf_leader *leader, int first, int nr, __u32 *first_idx)
{
	for (int i = 0; i < nr; i++) {
		struct attr_map_value value;
		struct foreign_event event;
		__u32 slot = first + i;
		struct attr_key key;
		int err;

		leader_slots__public_key(leader, first, nr, i, &key);
		if (attr_map__get(leader->attr_map, &key, &value) ||
		    leader_links__is_own(leader->registry, value.link_id) ||
		    identify__find(&key, value.link_id, leader->nr_cpus, &event))
			return false;
		err = bpf_map_update_elem(leader->map_fds[LEADER_FOREIGN], &slot, &event.map_fd,
					  BPF_ANY);
		close(event.map_fd);
		/* An array that does not keep its events is of another kind. */
		if (err) {
			foreign_events__forget(leader, first, i);
			return false;
		}
		first_idx[i] = event.first_idx;
	}
	return true;
}

/* All of a group are there on a CPU and count: their time goes on. */
static bool is_alive_on(const struct bperf_leader *leader, int first, int nr, int cpu)
{
	const struct event_reading *row = &leader_slots__row(leader, cpu)->event[first];
	uint64_t mask[MASK_WORDS] = {}, before[MAX_EVENTS];

	leader_slots__set_mask(first, nr, mask);
	if (leader_sync__cpu(leader, cpu, mask))
		return false;
	for (int i = 0; i < nr; i++)
		before[i] = row[i].enabled_ns;
	if (leader_sync__cpu(leader, cpu, mask))
		return false;
	for (int i = 0; i < nr; i++) {
		if (row[i].err || row[i].enabled_ns == before[i])
			return false;
	}
	return true;
}

bool foreign_events__adopt(const struct bperf_leader *leader, int first, int nr, int cpu,
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

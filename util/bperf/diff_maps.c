// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/diff_maps.h"

#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_parts.h"
#include "util/host/bpf_info.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Bound to on_switch, so it lives as long; one per slot, whichever events are in it. */
__u32 diff_maps__offer(struct bperf_leader *leader, int slot)
{
	__u32 *id = &leader->registry->diff_ids[slot], none = 0, made;
	int fd __cleanup(close_fd) = -1;

	if (*id)
		return *id;
	fd = leader_parts__new_diff();
	if (fd < 0 || bpf_prog_bind_map(leader->prog_fds[LEADER_ON_SWITCH], fd, NULL) ||
	    bpf_info__map_id(fd, &made))
		return 0;
	/* The session that opens the event may make one at the same time as a repair that announces it. */
	return __atomic_compare_exchange_n(id, &none, made, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST) ?
		       made :
		       none;
}

bool diff_maps__is_ready(const struct bperf_leader *leader, int slot)
{
	const struct reg_event *event = &leader->registry->event[slot];

	return __atomic_load_n(&event->state, __ATOMIC_ACQUIRE) == REG_READY &&
	       event->nr_members == 1 && leader->registry->diff_ids[slot];
}

/*
 * Put the maps where the program looks them up. An update waits for a grace period, but what it
 * writes is seen at once. So one update has all of them, without the lock. A slot's map stays the same, so
 * that all who do this write the same.
 */
int diff_maps__provide(const struct bperf_leader *leader)
{
	__u32 slots[MAX_EVENTS], nr = 0;
	int fds[MAX_EVENTS], err = 0;

	for (__u32 slot = 0; slot < MAX_EVENTS && !err; slot++) {
		__u32 want = leader->registry->diff_ids[slot], have = 0;

		if (!diff_maps__is_ready(leader, slot) ||
		    (!bpf_map_lookup_elem(leader->map_fds[LEADER_DIFFS], &slot, &have) &&
		     have == want))
			continue;
		fds[nr] = bpf_map_get_fd_by_id(want);
		if (fds[nr] < 0)
			err = -errno;
		else
			slots[nr++] = slot;
	}
	if (!err && nr &&
	    bpf_map_update_batch(leader->map_fds[LEADER_DIFFS], slots, fds, &nr, NULL))
		err = -errno;
	while (nr--)
		close(fds[nr]);
	return err;
}

void diff_maps__zero(const struct bperf_leader *leader, int slot)
{
	int fd __cleanup(close_fd) = bpf_map_get_fd_by_id(leader->registry->diff_ids[slot]);
	/* The kernel copies values of all CPUs that can ever be there. */
	int nr_cpus = libbpf_num_possible_cpus();
	struct bpf_perf_event_value *values = nr_cpus > 0 ? calloc(nr_cpus, sizeof(*values)) : NULL;
	__u32 key = DIFF_COUNTS;

	/* The kernel takes as much as the map has, whichever map the id names by now. */
	if (fd >= 0 && values && !leader_parts__check_diff(fd))
		bpf_map_update_elem(fd, &key, values, BPF_ANY);
	free(values);
}

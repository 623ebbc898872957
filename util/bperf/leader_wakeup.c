// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/leader_wakeup.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/diff_maps.h"
#include "util/bperf/foreign_followers.h"
#include "util/bperf/foreign_pins.h"
#include "util/bperf/leader_events.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/session.h"
#include "util/host/bpf_info.h"
#include "util/host/capability.h"
#include "util/lib/msg.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

/* The size of a wakeup in the ring buffer. */
#define WAKEUP_SIZE 16

int leader_wakeup__fd(const struct bperf_leader *leader)
{
	return leader->map_fds[LEADER_WAKEUPS];
}

int leader_wakeup__created_fd(const struct bperf_leader *leader)
{
	return leader->map_fds[LEADER_CREATED];
}

/*
 * A wakeup has no content. Each session waits for every wakeup (EPOLLET). So a session removes them only
 * to make room, and leaves the last one for others that were woken.
 */
static int see_wakeups(int fd, struct wakeup_ring *ring)
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned long made;

	if (!ring->seen)
		ring->seen = bpf_info__map_memory(fd, page, PROT_READ | PROT_WRITE);
	if (ring->seen && !ring->made) {
		void *mem = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, page);

		ring->made = mem == MAP_FAILED ? NULL : mem;
	}
	if (!ring->made)
		return -errno;
	made = __atomic_load_n(ring->made, __ATOMIC_ACQUIRE);
	if (made - *ring->seen > page / 2)
		__atomic_store_n(ring->seen, made - WAKEUP_SIZE, __ATOMIC_RELEASE);
	return 0;
}

int leader_wakeup__see_created(struct bperf_leader *leader)
{
	return see_wakeups(leader_wakeup__created_fd(leader), &leader->created);
}

/* Without the protocol's lock: the follower that is coming holds it. */
static int start_serving(struct bperf_leader *leader)
{
	bool is_new;
	int err;

	capability__raise();
	err = diff_maps__provide(leader);
	capability__lower();
	if (!err)
		err = attr_map__try_relock(leader->attr_map);
	if (err)
		return err;
	is_new = !leader->registry->is_serving;
	if (foreign_followers__is_wanted(leader))
		err = foreign_followers__serve(leader);
	if (!err)
		foreign_pins__replace(leader);
	is_new &= leader->registry->is_serving;
	(void)session__unlock(leader, false); /* leader_wakeup__handle() looks again */
	if (is_new)
		pr_verbose("events are served to followers of other implementations");
	/* Up to 6.1: a session that is just ending still has the link. */
	return err == -EEXIST ? -EWOULDBLOCK : err;
}

int leader_wakeup__serve(struct bperf_leader *leader)
{
	int err = see_wakeups(leader_wakeup__fd(leader), &leader->wakeups);

	return err || !foreign_followers__is_wanted(leader) ? err : start_serving(leader);
}

int leader_wakeup__handle(struct bperf_leader *leader)
{
	int err = leader_wakeup__serve(leader);

	if (err || !leader_events__needs_repair(leader))
		return err;
	err = attr_map__try_relock(leader->attr_map);
	if (err)
		return err;
	session__repair(leader);
	return session__unlock(leader, false);
}

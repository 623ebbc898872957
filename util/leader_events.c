// SPDX-License-Identifier: GPL-2.0
#include "leader_events.h"

#include "attr_map.h"
#include "cpumap.h"
#include "foreign.h"
#include "leader.h"
#include "leader_foreign.h"
#include "leader_serve.h"
#include "leader_slots.h"
#include "msg.h"
#include "pmu.h"
#include "util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What one takes in the ring buffer. */
#define CALL_SIZE 16

/* --- for the registry --- */

int leader_events__open(void *data, int first, int nr)
{
	struct leader_opening *opening = data;
	struct leader *leader = opening->leader;
	__u32 first_idx[MAX_EVENTS];
	bool has_foreign = leader_foreign__find(leader, first, nr, first_idx);
	int nr_open = 0, err = 0;

	if (has_foreign)
		leader__set_mode(leader, MODE_FOREIGN, true);
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		__u32 epoch = leader_slots__epoch(leader, cpu);

		leader_slots__set_done(leader, first, nr, cpu, 0);
		if (!cpumap__has(opening->cpus, cpu))
			continue;
		if (has_foreign && leader_foreign__adopt(leader, first, nr, cpu, first_idx)) {
			leader_slots__set_done(leader, first, nr, cpu, epoch);
			nr_open++;
			continue;
		}
		err = leader_slots__open(leader, first, nr, cpu, &opening->refused);
		/* A CPU that went offline meanwhile is no reason to refuse the event. */
		if (err == -ENODEV) {
			err = 0;
			continue;
		}
		if (err)
			break;
		leader_slots__set_done(leader, first, nr, cpu, epoch);
		nr_open++;
	}
	if (err)
		return err;
	if (has_foreign && leader_foreign__has(leader, first))
		pr_verbose("%d of another leader's events are counted", nr);
	else if (has_foreign)
		leader_foreign__forget(leader, first, nr);
	leader_foreign__note(leader);
	for (int i = 0; i < nr; i++)
		leader->registry->event[first + i].nr_open = nr_open;
	return nr_open ? 0 : -ENODEV;
}

void leader_events__close(void *data, int first, int nr)
{
	struct leader *leader = ((struct leader_opening *)data)->leader;
	struct attr_map_value value;
	struct attr_key key;

	for (int i = 0; i < nr; i++) {
		leader_slots__public_key(leader, first, nr, i, &key);
		if (!attr_map__get(leader->attr_map, &key, &value) &&
		    value.link_id == leader->registry->link_id)
			attr_map__remove(leader->attr_map, &key);
		bpf_map_delete_elem(leader->map_fds[LEADER_SHARED], &key);
	}
	leader_serve__withdraw(leader, first, nr);
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		leader_slots__drop(leader, first, nr, cpu);
	leader_foreign__forget(leader, first, nr);
	leader_foreign__note(leader);
}

/* Where one event is, for other leaders and for followers; another leader's own entry stays. */
static void announce(struct leader *leader, int first, int nr, int i)
{
	struct attr_map_value value = { .link_id = leader->registry->link_id }, old;
	struct shared_event where = {
		.map_id = leader->registry->map_ids[LEADER_EVENTS],
		.first_idx = leader_slots__idx(leader, first + i, 0),
	};
	struct attr_key key;
	int err;

	leader_slots__public_key(leader, first, nr, i, &key);
	if (leader_foreign__has(leader, first)) {
		if (!attr_map__get(leader->attr_map, &key, &old) &&
		    old.link_id != value.link_id && foreign__is_leader(old.link_id))
			return;
	} else {
		bpf_map_update_elem(leader->map_fds[LEADER_SHARED], &key, &where, BPF_ANY);
	}
	/* Members of groups have keys that no other implementation knows. */
	if (nr == 1 && leader->registry->is_hidden)
		return;
	if (nr == 1)
		value.diff_map_id = leader_serve__offer(leader, first);
	err = attr_map__set(leader->attr_map, &key, &value);
	if (err)
		pr_verbose("not announced in %s: %s", leader->attr_map->path, strerror(-err));
}

void leader_events__announce(void *data, int first, int nr)
{
	struct leader *leader = ((struct leader_opening *)data)->leader;

	for (int i = 0; i < nr; i++)
		announce(leader, first, nr, i);
}

/* --- CPUs that come back --- */

/* How long a CPU has been there without events, in nanoseconds; 0: it always was. */
static __u64 time_up(const struct leader *leader, int cpu)
{
	__u64 up_ns = leader->cpus[cpu].up_ns, now_ns = clock_ns();

	return up_ns && up_ns < now_ns ? now_ns - up_ns : 0;
}

/* Whether the PMU of an event counts on a CPU. */
static bool has_cpu(struct pmus *pmus, const struct attr_key *key, int cpu)
{
	struct perf_event_attr attr;
	const struct pmu *pmu;
	__u32 type;

	memcpy(&attr, key->bytes, sizeof(attr));
	type = attr.type;
	/* Of several kinds of cores, the one is in the upper half. */
	if ((type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE) && attr.config >> 32)
		type = attr.config >> 32;
	pmu = pmus__find_type(pmus, type);
	return !pmu || !pmu->cpus || cpumap__has(pmu->cpus, cpu);
}

/* Whether anything is to be opened on a CPU; no system call, for nearly always there is nothing. */
static bool has_undone(const struct leader *leader, int cpu)
{
	if (leader->cpus[cpu].is_leaving)
		return false;
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (leader_slots__begins(leader, slot) && !leader_slots__is_done(leader, slot, cpu))
			return true;
	}
	return false;
}

static bool needs_repair(const struct leader *leader)
{
	struct cpumap *online = NULL;
	bool is_needed = false;

	for (int cpu = 0; cpu < leader->nr_cpus && !is_needed; cpu++) {
		if (!has_undone(leader, cpu))
			continue;
		if (!online)
			online = cpumap__online();
		is_needed = online && cpumap__has(online, cpu);
	}
	cpumap__delete(online);
	return is_needed;
}

static void repair_cpu(struct leader *leader, struct pmus *pmus, int cpu)
{
	int nr_open = 0;

	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		const struct reg_event *event = &leader->registry->event[slot];
		__u32 epoch = leader_slots__epoch(leader, cpu);
		int ret;

		if (!leader_slots__begins(leader, slot) || leader_slots__is_done(leader, slot, cpu))
			continue;
		if (!has_cpu(pmus, &event->key, cpu)) {
			leader_slots__set_done(leader, slot, event->nr_members, cpu, epoch);
			continue;
		}
		ret = leader_slots__reopen(leader, slot, event->nr_members, cpu, time_up(leader, cpu));
		if (ret < 0) {
			pr_warn("CPU %d came online, but a shared event cannot be counted there: %s",
				cpu, strerror(-ret));
			/* Once is enough. */
			leader_slots__set_done(leader, slot, event->nr_members, cpu, epoch);
		}
		nr_open += ret > 0 ? event->nr_members : 0;
	}
	if (nr_open)
		pr_verbose("CPU %d came online: %d shared events opened there", cpu, nr_open);
}

static void repair_cpus(struct leader *leader)
{
	struct cpumap *online;
	struct pmus *pmus;

	if (!needs_repair(leader))
		return;
	online = cpumap__online();
	pmus = pmus__new(sysfs_root());
	for (int cpu = 0; online && pmus && cpu < leader->nr_cpus; cpu++) {
		if (cpumap__has(online, cpu) && has_undone(leader, cpu))
			repair_cpu(leader, pmus, cpu);
	}
	cpumap__delete(online);
	pmus__delete(pmus);
}

/* What another leader left behind when it ended is ours to announce, and what was hidden. */
static void announce_again(struct leader *leader, int first, int nr)
{
	struct attr_map_value value;
	struct attr_key key;

	for (int i = 0; i < nr; i++) {
		leader_slots__public_key(leader, first, nr, i, &key);
		if (attr_map__get(leader->attr_map, &key, &value) ||
		    value.link_id != leader->registry->link_id)
			announce(leader, first, nr, i);
	}
}

void leader_events__repair(struct leader *leader)
{
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (leader_slots__begins(leader, slot))
			announce_again(leader, slot, leader->registry->event[slot].nr_members);
	}
	repair_cpus(leader);
}

/* --- calls --- */

int leader_events__calls_fd(const struct leader *leader)
{
	return leader->map_fds[LEADER_CALLS];
}

/*
 * The calls say nothing but that they are there. All runs wait for them, each for every one of them
 * (EPOLLET): so they are taken out only to make room, and the last stays, lest others who were woken
 * find nothing.
 */
static int see_calls(struct leader *leader)
{
	size_t page = sysconf(_SC_PAGESIZE);
	int fd = leader_events__calls_fd(leader);
	unsigned long made;

	if (!leader->calls_seen)
		leader->calls_seen = leader__map_memory(fd, page, PROT_READ | PROT_WRITE);
	if (leader->calls_seen && !leader->calls_made) {
		void *mem = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, page);

		leader->calls_made = mem == MAP_FAILED ? NULL : mem;
	}
	if (!leader->calls_made)
		return -errno;
	made = __atomic_load_n(leader->calls_made, __ATOMIC_ACQUIRE);
	if (made - *leader->calls_seen > page / 2)
		__atomic_store_n(leader->calls_seen, made - CALL_SIZE, __ATOMIC_RELEASE);
	return 0;
}

int leader_events__answer(struct leader *leader)
{
	int err = see_calls(leader);

	if (!err && leader_serve__is_wanted(leader))
		err = leader_serve__start(leader);
	if (err || !needs_repair(leader))
		return err;
	err = attr_map__relock(leader->attr_map);
	if (err)
		return err;
	leader__repair(leader);
	attr_map__unlock(leader->attr_map);
	return 0;
}

void leader_events__unmap(struct leader *leader)
{
	size_t page = sysconf(_SC_PAGESIZE);

	if (leader->calls_seen)
		munmap(leader->calls_seen, page);
	if (leader->calls_made)
		munmap((void *)leader->calls_made, page);
}

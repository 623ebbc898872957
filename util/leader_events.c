// SPDX-License-Identifier: GPL-2.0
#include "leader_events.h"

#include "attr_map.h"
#include "cpumap.h"
#include "leader.h"
#include "msg.h"
#include "perf_event.h"
#include "pmu.h"
#include "registry.h"
#include "util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static __u32 event_idx(const struct leader *leader, int slot, int cpu)
{
	return (__u32)slot * leader->nr_cpus + cpu;
}

static const struct cpu_readings *row_of(const struct leader *leader, int cpu)
{
	return (const struct cpu_readings *)leader->readings + cpu;
}

/* --- one CPU --- */

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

/* What is read from now on is added to what was read before; nothing in the slot is read meanwhile. */
static void renew(const struct leader *leader, int first, int nr, int cpu, __u64 gap_ns)
{
	for (int slot = first; slot < first + nr; slot++) {
		struct event_base *base = &leader->cpus[cpu].base[slot];
		const struct event_reading *last = &row_of(leader, cpu)->event[slot];

		base->counter = last->counter;
		base->enabled_ns = last->enabled_ns + gap_ns;
		base->running_ns = last->running_ns;
		__atomic_store_n(&base->gen, base->gen + 1 ? base->gen + 1 : 1, __ATOMIC_RELEASE);
	}
}

static int insert(const struct leader *leader, int first, int nr, int cpu, int *fds)
{
	int err = 0;

	for (int i = 0; i < nr; i++) {
		__u32 idx = event_idx(leader, first + i, cpu);

		if (!err && bpf_map_update_elem(leader->map_fds[LEADER_EVENTS], &idx, &fds[i], BPF_ANY))
			err = -errno;
		close(fds[i]);
	}
	return err;
}

static void drop(const struct leader *leader, int first, int nr, int cpu)
{
	for (int slot = first; slot < first + nr; slot++) {
		__u32 idx = event_idx(leader, slot, cpu);

		bpf_map_delete_elem(leader->map_fds[LEADER_EVENTS], &idx);
	}
}

/* A CPU's epoch is even; what was done in it is odd, so never the 0 of what was never done. */
static __u32 epoch_of(const struct leader *leader, int cpu)
{
	return __atomic_load_n(&leader->cpus[cpu].epoch, __ATOMIC_ACQUIRE) + 1;
}

static bool is_done(const struct leader *leader, int slot, int cpu)
{
	return leader->cpus[cpu].base[slot].epoch == epoch_of(leader, cpu);
}

static void set_done(const struct leader *leader, int first, int nr, int cpu, __u32 epoch)
{
	for (int slot = first; slot < first + nr; slot++)
		leader->cpus[cpu].base[slot].epoch = epoch;
}

/* --- for the registry --- */

int leader_events__open(void *data, int first, int nr)
{
	struct leader_opening *opening = data;
	const struct leader *leader = opening->leader;
	int nr_open = 0, err = 0;

	for (int cpu = 0; cpu < leader->nr_cpus && !err; cpu++) {
		__u32 epoch = epoch_of(leader, cpu);
		int fds[MAX_EVENTS];

		set_done(leader, first, nr, cpu, 0);
		if (!cpumap__has(opening->cpus, cpu))
			continue;
		err = open_group(leader, first, nr, cpu, fds, &opening->refused);
		/* A CPU that went offline meanwhile is no reason to refuse the event. */
		if (err == -ENODEV) {
			err = 0;
			continue;
		}
		if (err)
			break;
		renew(leader, first, nr, cpu, 0);
		err = insert(leader, first, nr, cpu, fds);
		set_done(leader, first, nr, cpu, epoch);
		nr_open++;
	}
	if (err)
		return err;
	for (int i = 0; i < nr; i++)
		leader->registry->event[first + i].nr_open = nr_open;
	return nr_open ? 0 : -ENODEV;
}

static void group_keys(const struct leader *leader, int first, int nr, struct attr_key *keys)
{
	for (int i = 0; i < nr; i++)
		keys[i] = leader->registry->event[first + i].key;
}

/* The key under which member @i is known to other implementations. */
static void public_key(const struct attr_key *keys, int nr, int i, struct attr_key *key)
{
	if (nr == 1)
		*key = keys[0];
	else
		attr_map__group_key(keys, nr, i, key);
}

void leader_events__close(void *data, int first, int nr)
{
	struct leader *leader = ((struct leader_opening *)data)->leader;
	struct attr_key keys[MAX_EVENTS], key;

	group_keys(leader, first, nr, keys);
	for (int i = 0; i < nr; i++) {
		public_key(keys, nr, i, &key);
		attr_map__remove(leader->attr_map, &key);
		bpf_map_delete_elem(leader->map_fds[LEADER_SHARED], &key);
	}
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		drop(leader, first, nr, cpu);
}

void leader_events__announce(void *data, int first, int nr)
{
	struct leader *leader = ((struct leader_opening *)data)->leader;
	const struct attr_map_value value = { .link_id = leader->registry->link_id };
	struct attr_key keys[MAX_EVENTS], key;

	group_keys(leader, first, nr, keys);
	for (int i = 0; i < nr; i++) {
		struct shared_event where = {
			.map_id = leader->registry->map_ids[LEADER_EVENTS],
			.first_idx = event_idx(leader, first + i, 0),
		};
		int err;

		public_key(keys, nr, i, &key);
		bpf_map_update_elem(leader->map_fds[LEADER_SHARED], &key, &where, BPF_ANY);
		err = attr_map__set(leader->attr_map, &key, &value);
		if (err)
			pr_verbose("not announced in %s: %s", leader->attr_map->path,
				   strerror(-err));
	}
}

/* --- CPUs that come back --- */

static void mask_of(int first, int nr, uint64_t mask[MASK_WORDS])
{
	for (int slot = first; slot < first + nr; slot++)
		mask[slot / 64] |= 1ULL << slot % 64;
}

/*
 * Put living events in the place of dead ones. The order matters to the programs that read
 * meanwhile, and to the next one who does this if we die: the old events are out before their last
 * readings become the new ones' base; a sync has passed, thus no program still has the old
 * generation in hand, before the new events are in.
 * Return: 1; 0: the CPU is not there; -errno.
 */
static int reopen(struct leader *leader, int first, int nr, int cpu)
{
	const struct cpu_state *state = &leader->cpus[cpu];
	const uint64_t no_events[MASK_WORDS] = {};
	uint64_t mask[MASK_WORDS] = {};
	__u32 epoch = epoch_of(leader, cpu);
	__u64 now_ns;
	int fds[MAX_EVENTS];
	int err, refused;
	bool is_new;

	mask_of(first, nr, mask);
	err = leader__sync(leader, cpu, mask, false);
	if (err)
		return err == -ENXIO ? 0 : err;
	is_new = row_of(leader, cpu)->event[first].err == ENOENT;
	drop(leader, first, nr, cpu);
	leader__step("event-dropped");
	now_ns = clock_ns();
	renew(leader, first, nr, cpu, state->up_ns && state->up_ns < now_ns ? now_ns - state->up_ns : 0);
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
	set_done(leader, first, nr, cpu, epoch);
	for (int i = 0; is_new && i < nr; i++)
		leader->registry->event[first + i].nr_open++;
	return 1;
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
		const struct reg_event *event = &leader->registry->event[slot];

		if (event->state == REG_READY && event->leader == (__u32)slot &&
		    !is_done(leader, slot, cpu))
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
		__u32 epoch = epoch_of(leader, cpu);
		int ret;

		if (event->state != REG_READY || event->leader != (__u32)slot ||
		    is_done(leader, slot, cpu))
			continue;
		if (!has_cpu(pmus, &event->key, cpu)) {
			set_done(leader, slot, event->nr_members, cpu, epoch);
			continue;
		}
		ret = reopen(leader, slot, event->nr_members, cpu);
		if (ret < 0) {
			pr_warn("CPU %d came online, but a shared event cannot be counted there: %s",
				cpu, strerror(-ret));
			/* Once is enough. */
			set_done(leader, slot, event->nr_members, cpu, epoch);
		}
		nr_open += ret > 0 ? event->nr_members : 0;
	}
	if (nr_open)
		pr_verbose("CPU %d came online: %d shared events opened there", cpu, nr_open);
}

void leader_events__repair(struct leader *leader)
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

/* --- calls --- */

int leader_events__calls_fd(const struct leader *leader)
{
	return leader->map_fds[LEADER_CALLS];
}

/* The calls say nothing but that they are there: whoever looks has seen all of them. */
static int see_calls(struct leader *leader)
{
	size_t page = sysconf(_SC_PAGESIZE);
	int fd = leader_events__calls_fd(leader);
	void *mem;

	if (!leader->calls_seen) {
		leader->calls_seen = leader__map_memory(fd, page, PROT_READ | PROT_WRITE);
		mem = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, page);
		leader->calls_made = mem == MAP_FAILED ? NULL : mem;
	}
	if (!leader->calls_seen || !leader->calls_made)
		return -errno;
	__atomic_store_n(leader->calls_seen, __atomic_load_n(leader->calls_made, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
	return 0;
}

int leader_events__answer(struct leader *leader)
{
	int err = see_calls(leader);

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

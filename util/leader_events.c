// SPDX-License-Identifier: GPL-2.0
#include "leader_events.h"

#include "attr_map.h"
#include "cpumap.h"
#include "foreign.h"
#include "leader.h"
#include "leader_serve.h"
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

/* What one takes in the ring buffer. */
#define CALL_SIZE 16

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

static __u32 own_flags(const struct attr_key *key)
{
	struct perf_event_attr attr;

	memcpy(&attr, key->bytes, sizeof(attr));
	return attr.type == PERF_TYPE_SOFTWARE && attr.config == PERF_COUNT_SW_CONTEXT_SWITCHES &&
	       !attr.exclude_kernel ? EVENT_SWITCHES : 0;
}

/* What is read from now on is added to what was read before; nothing in the slot is read meanwhile. */
static void renew(const struct leader *leader, int first, int nr, int cpu, __u64 gap_ns)
{
	for (int slot = first; slot < first + nr; slot++) {
		struct event_base *base = &leader->cpus[cpu].base[slot];
		const struct event_reading *last = &row_of(leader, cpu)->event[slot];

		base->flags = own_flags(&leader->registry->event[slot].key);
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

/* A foreign event is not read any more; who holds its array does not change. */
static void drop(const struct leader *leader, int first, int nr, int cpu)
{
	for (int slot = first; slot < first + nr; slot++) {
		__u32 idx = event_idx(leader, slot, cpu);
		__u32 *flags = &leader->cpus[cpu].base[slot].flags;

		__atomic_store_n(flags, *flags & ~EVENT_FOREIGN, __ATOMIC_RELEASE);
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

static void mask_of(int first, int nr, uint64_t mask[MASK_WORDS])
{
	for (int slot = first; slot < first + nr; slot++)
		mask[slot / 64] |= 1ULL << slot % 64;
}

/* --- events of other leaders --- */

static bool is_foreign_on(const struct leader *leader, int slot, int cpu)
{
	return leader->cpus[cpu].base[slot].flags & EVENT_FOREIGN;
}

bool leader_events__is_foreign(const struct leader *leader, int slot)
{
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		if (is_foreign_on(leader, slot, cpu))
			return true;
	}
	return false;
}

/* The key under which member @i is known to others. */
static void public_key(const struct leader *leader, int first, int nr, int i, struct attr_key *key)
{
	struct attr_key keys[MAX_EVENTS];

	for (int k = 0; k < nr; k++)
		keys[k] = leader->registry->event[first + k].key;
	if (nr == 1)
		*key = keys[0];
	else
		attr_map__group_key(keys, nr, i, key);
}

static void forget_foreign(const struct leader *leader, int first, int nr)
{
	for (__u32 slot = first; slot < (__u32)(first + nr); slot++)
		bpf_map_delete_elem(leader->map_fds[LEADER_FOREIGN], &slot);
}

/* Take hold of the arrays that another leader has the events of a group in. */
static bool find_foreign(const struct leader *leader, int first, int nr, __u32 *first_idx)
{
	for (int i = 0; i < nr; i++) {
		struct foreign_event event;
		__u32 slot = first + i;
		struct attr_key key;
		int err;

		public_key(leader, first, nr, i, &key);
		if (foreign__find(leader->attr_map, &key, leader->registry->link_id, leader->nr_cpus,
				  &event))
			return false;
		err = bpf_map_update_elem(leader->map_fds[LEADER_FOREIGN], &slot, &event.map_fd,
					  BPF_ANY);
		close(event.map_fd);
		/* An array that does not keep its events is of another kind. */
		if (err) {
			forget_foreign(leader, first, i);
			return false;
		}
		first_idx[i] = event.first_idx;
	}
	return true;
}

/* All of a group are there on a CPU and count: their time goes on. */
static bool is_alive_on(const struct leader *leader, int first, int nr, int cpu)
{
	const struct event_reading *row = &row_of(leader, cpu)->event[first];
	uint64_t mask[MASK_WORDS] = {}, before[MAX_EVENTS];

	mask_of(first, nr, mask);
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

bool leader_events__has_foreign(const struct leader *leader)
{
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (leader->registry->event[slot].state != REG_FREE && leader_events__is_foreign(leader, slot))
			return true;
	}
	return false;
}

static void note_foreign(struct leader *leader)
{
	leader__set_mode(leader, MODE_FOREIGN, leader_events__has_foreign(leader));
}

/* Count another leader's events on a CPU; false: they do not count there. */
static bool adopt(const struct leader *leader, int first, int nr, int cpu, const __u32 *first_idx)
{
	renew(leader, first, nr, cpu, 0);
	for (int i = 0; i < nr; i++) {
		struct event_base *base = &leader->cpus[cpu].base[first + i];

		base->foreign_idx = first_idx[i] + cpu;
		__atomic_store_n(&base->flags, base->flags | EVENT_FOREIGN, __ATOMIC_RELEASE);
	}
	if (is_alive_on(leader, first, nr, cpu))
		return true;
	drop(leader, first, nr, cpu);
	return false;
}

/* --- for the registry --- */

int leader_events__open(void *data, int first, int nr)
{
	struct leader_opening *opening = data;
	struct leader *leader = opening->leader;
	__u32 first_idx[MAX_EVENTS];
	bool has_foreign = find_foreign(leader, first, nr, first_idx);
	int nr_open = 0, err = 0;

	if (has_foreign)
		leader__set_mode(leader, MODE_FOREIGN, true);
	for (int cpu = 0; cpu < leader->nr_cpus && !err; cpu++) {
		__u32 epoch = epoch_of(leader, cpu);
		int fds[MAX_EVENTS];

		set_done(leader, first, nr, cpu, 0);
		if (!cpumap__has(opening->cpus, cpu))
			continue;
		if (has_foreign && adopt(leader, first, nr, cpu, first_idx)) {
			set_done(leader, first, nr, cpu, epoch);
			nr_open++;
			continue;
		}
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
	if (has_foreign && leader_events__is_foreign(leader, first))
		pr_verbose("%d of another leader's events are counted", nr);
	else if (has_foreign)
		forget_foreign(leader, first, nr);
	note_foreign(leader);
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
		public_key(leader, first, nr, i, &key);
		if (!attr_map__get(leader->attr_map, &key, &value) &&
		    value.link_id == leader->registry->link_id)
			attr_map__remove(leader->attr_map, &key);
		bpf_map_delete_elem(leader->map_fds[LEADER_SHARED], &key);
	}
	leader_serve__withdraw(leader, first, nr);
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		drop(leader, first, nr, cpu);
	forget_foreign(leader, first, nr);
	note_foreign(leader);
}

/* Where one event is, for other leaders and for followers; another leader's own entry stays. */
static void announce(struct leader *leader, int first, int nr, int i)
{
	struct attr_map_value value = { .link_id = leader->registry->link_id }, old;
	struct shared_event where = {
		.map_id = leader->registry->map_ids[LEADER_EVENTS],
		.first_idx = event_idx(leader, first + i, 0),
	};
	struct attr_key key;
	int err;

	public_key(leader, first, nr, i, &key);
	if (leader_events__is_foreign(leader, first)) {
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

/*
 * Put living events in the place of dead ones. The order matters to the programs that read
 * meanwhile, and to the next one who does this if we die: the old events are out before their last
 * readings become the new ones' base; a sync has passed, thus no program still has the old
 * generation in hand, before the new events are in.
 * Return: 1; 0: the CPU is not there; -errno.
 */
static int reopen(struct leader *leader, int first, int nr, int cpu, __u64 gap_ns)
{
	const uint64_t no_events[MASK_WORDS] = {};
	uint64_t mask[MASK_WORDS] = {};
	__u32 epoch = epoch_of(leader, cpu);
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
	renew(leader, first, nr, cpu, gap_ns);
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
		ret = reopen(leader, slot, event->nr_members, cpu, time_up(leader, cpu));
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

/* Call a function for each event or group that is ready. */
static void for_each_group(struct leader *leader, void (*fn)(struct leader *leader, int first, int nr))
{
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		const struct reg_event *event = &leader->registry->event[slot];

		if (event->state == REG_READY && event->leader == (__u32)slot)
			fn(leader, slot, event->nr_members);
	}
}

/* What another leader left behind when it ended is ours to announce, and what was hidden. */
static void announce_again(struct leader *leader, int first, int nr)
{
	struct attr_map_value value;
	struct attr_key key;

	for (int i = 0; i < nr; i++) {
		public_key(leader, first, nr, i, &key);
		if (attr_map__get(leader->attr_map, &key, &value) ||
		    value.link_id != leader->registry->link_id)
			announce(leader, first, nr, i);
	}
}

void leader_events__repair(struct leader *leader)
{
	for_each_group(leader, announce_again);
	repair_cpus(leader);
}

/* --- other leaders' events that stand still --- */

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
	const struct event_reading *row = &row_of(leader, cpu)->event[first];
	uint64_t mask[MASK_WORDS] = {};

	mask_of(first, nr, mask);
	if (!watch || !is_foreign_on(leader, first, cpu) || leader__sync(leader, cpu, mask, false))
		return false;
	if (watch->at_ns && watch->enabled_ns == row->enabled_ns)
		return true;
	watch->at_ns = clock_ns();
	watch->enabled_ns = row->enabled_ns;
	return false;
}

void leader_events__take_over(struct leader *leader, int first)
{
	int nr = leader->registry->event[first].nr_members, ret = 0;

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		const struct foreign_watch *watch = watch_of(leader, first, cpu);
		__u64 gap_ns = 0;

		if (!is_foreign_on(leader, first, cpu))
			continue;
		if (is_lame(leader, first, nr, cpu))
			gap_ns = clock_ns() - watch->at_ns;
		ret = reopen(leader, first, nr, cpu, gap_ns);
		if (ret < 0)
			pr_warn("another leader's event stands still on CPU %d, and ours cannot be opened: %s",
				cpu, strerror(-ret));
	}
	if (leader_events__is_foreign(leader, first))
		return;
	forget_foreign(leader, first, nr);
	note_foreign(leader);
	for (int i = 0; i < nr; i++)
		announce(leader, first, nr, i);
}

static bool has_lame(struct leader *leader, int first, int nr)
{
	bool any = false;

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		any |= is_lame(leader, first, nr, cpu);
	return any;
}

static void replace_lame(struct leader *leader, int first, int nr)
{
	if (!has_lame(leader, first, nr))
		return;
	pr_verbose("another leader stopped its event: counted by one of our own");
	leader_events__take_over(leader, first);
}

int leader_events__watch(struct leader *leader)
{
	bool any = false;
	int err;

	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		const struct reg_event *event = &leader->registry->event[slot];

		if (event->state == REG_READY && event->leader == (__u32)slot)
			any |= has_lame(leader, slot, event->nr_members);
	}
	if (!any)
		return 0;
	err = attr_map__relock(leader->attr_map);
	if (err)
		return err;
	leader__repair(leader);
	for_each_group(leader, replace_lame);
	attr_map__unlock(leader->attr_map);
	return 0;
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
	void *mem;

	if (!leader->calls_seen) {
		leader->calls_seen = leader__map_memory(fd, page, PROT_READ | PROT_WRITE);
		mem = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, page);
		leader->calls_made = mem == MAP_FAILED ? NULL : mem;
	}
	if (!leader->calls_seen || !leader->calls_made)
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
	free(leader->watch);
}

// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/leader_events.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/crash_point.h"
#include "util/bperf/foreign_events.h"
#include "util/bperf/foreign_followers.h"
#include "util/bperf/leader_announce.h"
#include "util/bperf/leader.h"
#include "util/bperf/leader_internal.h"
#include "util/bperf/leader_links.h"
#include "util/bperf/leader_slots.h"
#include "util/event/pmu.h"
#include "util/host/bpf_info.h"
#include "util/host/cpumap.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

/*
 * After this time without another event, a session that reopens events is taken for stopped. So a session that waits for
 * it has most of its second left.
 */
#define OPENING_MS (ATTR_MAP_WAIT_MS / 4)

/* How often another one looks. */
#define OPENING_WAIT_US 1000

/* --- for the registry --- */

/*
 * Mark online CPUs outside the event's PMU as absent: nothing will ever be opened there. For an
 * offline CPU this is unknown. reopen_group() decides when the CPU comes online; events until then
 * are lost.
 */
static void note_absence(const struct leader_opening *opening, int first, int nr)
{
	const struct bperf_leader *leader = opening->leader;
	const struct cpumap *cpus = opening->cpus;
	int last = leader->nr_cpus - 1;
	bool has_all = cpus->nr > last && cpus->cpu[last] == last;
	struct cpumap *online = has_all ? NULL : cpumap__online();

	for (int cpu = 0; cpu < leader->nr_cpus; cpu++)
		leader_slots__set_absent(leader, first, nr, cpu,
					 online && cpumap__has(online, cpu) &&
						 !cpumap__has(cpus, cpu));
	cpumap__delete(online);
}

int leader_events__open(void *data, int first, int nr)
{
	struct leader_opening *opening = data;
	struct bperf_leader *leader = opening->leader;
	__u32 first_idx[MAX_EVENTS];
	bool has_foreign = foreign_events__find(leader, first, nr, first_idx);
	int nr_open = 0, err = 0;

	if (has_foreign)
		bperf_leader__set_mode(leader, MODE_FOREIGN, true);
	note_absence(opening, first, nr);
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		__u32 epoch = leader_slots__epoch(leader, cpu);

		leader_slots__set_done(leader, first, nr, cpu, EPOCH_NEVER);
		if (!cpumap__has(opening->cpus, cpu))
			continue;
		if (has_foreign && foreign_events__adopt(leader, first, nr, cpu, first_idx)) {
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
	if (has_foreign && leader_slots__has_foreign(leader, first)) {
		/* A repair that found none may just have cleared it. */
		bperf_leader__set_mode(leader, MODE_FOREIGN, true);
		pr_verbose("%d of another leader's events are counted", nr);
	} else if (has_foreign) {
		foreign_events__forget(leader, first, nr);
	}
	return nr_open ? nr_open : -ENODEV;
}

/*
 * A foreign follower holds the protocol's lock from its look at an entry until its program is attached.
 * Only then can we see that it follows.
 */
bool leader_events__withdraw(void *data, int first, int nr)
{
	struct bperf_leader *leader = ((struct leader_opening *)data)->leader;
	struct attr_map_value value;
	struct attr_key key;

	for (int i = 0; i < nr; i++) {
		leader_slots__public_key(leader, first, nr, i, &key);
		/* Two sessions that opened one event at a time have a slot each, and one entry. */
		if (!attr_map__get(leader->attr_map, &key, &value) &&
		    leader_links__is_own(leader->registry, value.link_id) &&
		    (nr > 1 || value.diff_map_id == leader->registry->diff_ids[first]))
			attr_map__remove(leader->attr_map, &key);
	}
	/* Groups have no map that followers could read. */
	return nr > 1 || !leader->registry->diff_ids[first] ||
	       attr_map__try_protocol(leader->attr_map);
}

void leader_events__close(void *data, int first, int nr)
{
	struct bperf_leader *leader = ((struct leader_opening *)data)->leader;
	struct shared_event where;
	struct attr_key key;

	for (int i = 0; i < nr; i++) {
		leader_slots__public_key(leader, first, nr, i, &key);
		if (!bpf_map_lookup_elem(leader->map_fds[LEADER_SHARED], &key, &where) &&
		    where.first_idx == leader_slots__idx(leader, first + i, 0))
			bpf_map_delete_elem(leader->map_fds[LEADER_SHARED], &key);
	}
	foreign_followers__withdraw(leader, first, nr);
	for (int cpu = 0; cpu < leader->nr_cpus; cpu++) {
		leader_slots__drop(leader, first, nr, cpu);
		leader_slots__set_done(leader, first, nr, cpu, EPOCH_NEVER);
	}
	foreign_events__forget(leader, first, nr);
}

/* --- CPUs that come back --- */

/* How long a CPU has been there again, in nanoseconds; 0: it always was. */
static __u64 time_up(const struct bperf_leader *leader, int cpu)
{
	__u64 up_ns = leader->cpus[cpu].up_ns, now_ns = clock_ns();

	return up_ns && up_ns < now_ns ? now_ns - up_ns : 0;
}

/* Return: whether the PMU of an event counts on a CPU. */
static bool has_cpu(struct pmus *pmus, const struct attr_key *key, int cpu)
{
	struct perf_event_attr attr;
	const struct pmu *pmu;
	__u32 type;

	memcpy(&attr, key->bytes, sizeof(attr));
	type = attr.type;
	/* The upper half names the kind of core. */
	if ((type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE) && attr.config >> 32)
		type = attr.config >> 32;
	pmu = pmus__find_type(pmus, type);
	return !pmu || !pmu->cpus || cpumap__has(pmu->cpus, cpu);
}

/* Return: whether an event must be opened on a CPU; @is_absent: also one that the CPU may lack */
static bool has_undone(const struct bperf_leader *leader, int cpu, bool is_absent)
{
	if (leader->cpus[cpu].is_leaving)
		return false;
	for (int slot = 0; slot < MAX_EVENTS; slot++) {
		if (leader_slots__begins(leader, slot) &&
		    !leader_slots__is_done(leader, slot, cpu) &&
		    (is_absent || !(leader->cpus[cpu].base[slot].flags & EVENT_ABSENT)))
			return true;
	}
	return false;
}

/* Return: whether a lock holder has something to do for a CPU. No system call: nearly always nothing. */
static bool needs_repair(const struct bperf_leader *leader, int cpu)
{
	return has_undone(leader, cpu, true) ||
	       (leader->cpus[cpu].mode & MODE_DEAD && !leader->cpus[cpu].is_leaving);
}

uint64_t leader_events__gap_ns(const struct bperf_leader *leader, int cpu)
{
	__u64 gap_ns = __atomic_load_n(&leader->cpus[cpu].gap_ns, __ATOMIC_ACQUIRE);

	return has_undone(leader, cpu, false) ? gap_ns + time_up(leader, cpu) : gap_ns;
}

bool leader_events__needs_repair(const struct bperf_leader *leader)
{
	struct cpumap *online = NULL;
	bool is_needed = false;

	for (int cpu = 0; cpu < leader->nr_cpus && !is_needed; cpu++) {
		if (!needs_repair(leader, cpu))
			continue;
		if (!online)
			online = cpumap__online();
		is_needed = online && cpumap__has(online, cpu);
	}
	cpumap__delete(online);
	return is_needed;
}

/* --- their events, opened without the lock --- */

static __u64 opening_now(const struct bperf_leader *leader)
{
	return OPENING(leader->token, clock_ns() / NSEC_PER_MSEC);
}

/* Return: whether the session that opens is dead, or seems to be stopped. One without a token has only its time. */
static bool has_ended(__u64 opening)
{
	__u32 token = OPENING_TOKEN(opening), now_ms = clock_ns() / NSEC_PER_MSEC;

	return (token && !bpf_info__is_map_alive(token)) ||
	       now_ms - OPENING_AT_MS(opening) >=
		       crash_point__setting(CRASH_OPENING_MS, OPENING_MS);
}

/* One session at a time: the others would open the same events, and could not put them into place. */
static bool begin_opening(const struct bperf_leader *leader)
{
	__u64 *opening = &leader->registry->opening;
	__u64 seen = __atomic_load_n(opening, __ATOMIC_ACQUIRE);

	if (seen && !has_ended(seen))
		return false;
	return __atomic_compare_exchange_n(opening, &seen, opening_now(leader), false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Return: false: another session is still at it. After all the time for waiting, both open the same events. */
static bool await_opening(const struct bperf_leader *leader, bool waits)
{
	do {
		if (begin_opening(leader))
			return true;
	} while (waits && attr_map__pause(leader->attr_map, OPENING_WAIT_US));
	return waits;
}

/* Leave the word alone if another session has taken over, because this one was stopped. */
static void set_opening(const struct bperf_leader *leader, __u64 to)
{
	__u64 *opening = &leader->registry->opening;
	__u64 seen = __atomic_load_n(opening, __ATOMIC_ACQUIRE);

	if (OPENING_TOKEN(seen) == leader->token)
		(void)__atomic_compare_exchange_n(opening, &seen, to, false, __ATOMIC_SEQ_CST,
						  __ATOMIC_SEQ_CST);
}

/* If all events of a CPU live again, programs at switches need no longer ask. */
static void end_dead_mode(struct bperf_leader *leader, int cpu)
{
	__u32 epoch = leader_slots__epoch(leader, cpu);

	if (!(leader->cpus[cpu].mode & MODE_DEAD) || has_undone(leader, cpu, true))
		return;
	bperf_leader__set_cpu_mode(leader, cpu, MODE_DEAD, false);
	/* The CPU has just gone. */
	if (epoch != leader_slots__epoch(leader, cpu))
		bperf_leader__set_cpu_mode(leader, cpu, MODE_DEAD, true);
}

/* Under the lock. Return: how many events are in their slots now. @err: of opening them */
static int place(struct bperf_leader *leader, const struct spare_events *spare, int err)
{
	static bool has_warned;
	int nr = spare->nr, cpu = spare->cpu;
	__u64 gap_ns;

	/* The readings of dead events have that time already. */
	gap_ns = leader->cpus[cpu].base[spare->first].epoch == EPOCH_NEVER ? time_up(leader, cpu) :
									     0;
	if (!err)
		err = leader_slots__replace(leader, spare, gap_ns);
	/* It stays undone: its time counts as a gap, slices with it as failed, and others try again. */
	if (err < 0 && !has_warned)
		pr_warn("CPU %d came online, but a shared event cannot be counted there: %s", cpu,
			strerror(-err));
	has_warned |= err < 0;
	return err > 0 ? nr : 0;
}

static void set_absent(struct bperf_leader *leader, const struct spare_events *spare)
{
	leader_slots__set_absent(leader, spare->first, spare->nr, spare->cpu, true);
	leader_slots__set_done(leader, spare->first, spare->nr, spare->cpu, spare->epoch);
}

/* Under the lock. Return: as place() */
static int commit(struct bperf_leader *leader, const struct spare_events *spare, bool is_absent,
		  int err)
{
	bool is_gap = has_undone(leader, spare->cpu, false);
	int nr = 0;

	/* Another session can have been here, and the event be gone. */
	if (leader_slots__is_noted(leader, spare) &&
	    !leader_slots__is_done(leader, spare->first, spare->cpu)) {
		if (is_absent)
			set_absent(leader, spare);
		else
			nr = place(leader, spare, err);
	}
	if (is_gap && !has_undone(leader, spare->cpu, false))
		__atomic_fetch_add(&leader->cpus[spare->cpu].gap_ns, time_up(leader, spare->cpu),
				   __ATOMIC_SEQ_CST);
	end_dead_mode(leader, spare->cpu);
	return nr;
}

/* Return: whether another session may be able to open what this one could not. */
static bool is_own_shortage(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM;
}

/* Return: how many events are in their slots now; -errno: the lock was not had. */
static int reopen_group(struct bperf_leader *leader, struct pmus *pmus, int first, int cpu,
			bool waits)
{
	struct spare_events spare __cleanup(spare_events__clear) = {};
	int err = leader_slots__note(leader, first, cpu, &spare), nr;
	bool is_absent = !err && !has_cpu(pmus, &spare.keys[0], cpu);

	if (!err && !is_absent)
		err = spare_events__open(&spare);
	if (err == -ENODEV || is_own_shortage(err))
		return 0;
	crash_point__reach("event-prepared");
	nr = attr_map__take(leader->attr_map, waits);
	if (nr)
		return nr;
	nr = commit(leader, &spare, is_absent, err);
	attr_map__unlock(leader->attr_map);
	return nr;
}

/* Return: 0, or -errno: the lock was not had. */
static int reopen_on(struct bperf_leader *leader, struct pmus *pmus, int cpu, bool waits)
{
	int nr_open = 0, ret = 0;

	for (int slot = 0; slot < MAX_EVENTS && ret >= 0; slot++) {
		if (!leader_slots__begins(leader, slot) || leader_slots__is_done(leader, slot, cpu))
			continue;
		set_opening(leader, opening_now(leader));
		ret = reopen_group(leader, pmus, slot, cpu, waits);
		nr_open += ret > 0 ? ret : 0;
	}
	if (nr_open)
		pr_verbose("CPU %d came online: %d shared events opened there", cpu, nr_open);
	/* A session died that had opened all. */
	if (ret >= 0 && needs_repair(leader, cpu) && !has_undone(leader, cpu, true)) {
		ret = attr_map__take(leader->attr_map, waits);
		if (!ret) {
			end_dead_mode(leader, cpu);
			attr_map__unlock(leader->attr_map);
		}
	}
	return ret < 0 ? ret : 0;
}

int leader_events__reopen(struct bperf_leader *leader, bool waits)
{
	struct cpumap *online;
	struct pmus *pmus;
	int err = 0;

	if (!leader_events__needs_repair(leader))
		return 0;
	if (!await_opening(leader, waits))
		return -EWOULDBLOCK;
	online = cpumap__online();
	pmus = pmus__new(sysfs_root());
	for (int cpu = 0; online && pmus && cpu < leader->nr_cpus && !err; cpu++) {
		if (cpumap__has(online, cpu) && needs_repair(leader, cpu))
			err = reopen_on(leader, pmus, cpu, waits);
	}
	set_opening(leader, 0);
	cpumap__delete(online);
	pmus__delete(pmus);
	return err;
}

void leader_events__repair(struct bperf_leader *leader)
{
	leader_slots__note_foreign(leader);
	leader_announce__some(leader);
}

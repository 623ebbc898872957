// SPDX-License-Identifier: GPL-2.0
#include "util/sample/sample_slots.h"

#include "util/bperf/attr_map.h"
#include "util/bperf/crash_point.h"
#include "util/bperf/leader_sample.h"
#include "util/bperf/leader_slots.h"
#include "util/host/bpf_info.h"
#include "util/host/cpumap.h"
#include "util/host/perf_event.h"
#include "util/host/wide_attr.h"
#include "util/lib/util.h"
#include "util/sample/sample_ranges.h"
#include "util/sample/sample_sleepers.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>

/* --- the events of a slot --- */

static struct sample_base *base_of(const struct sample_object *object, int slot, int cpu)
{
	return &object->cpus[cpu].slot[slot].base;
}

/* Return: whether the event on a CPU is not what its users need. No system call. */
static bool is_stale(const struct sample_object *object, int slot, int cpu)
{
	const struct sample_base *base = base_of(object, slot, cpu);
	uint64_t needed = sample_rate__needed(object->plan, slot, cpu);

	if (base->rate != needed)
		return true;
	/* A session that died can have left an event without a rate. */
	if (!needed)
		return base->gen || base->may_be_placed;
	return base->epoch != leader_slots__epoch(object->leader, cpu);
}

static int open_event(const struct sample_slot *slot, int cpu, uint64_t rate)
{
	union wide_attr wide;
	struct perf_event_attr *attr = &wide.attr;

	attr_map__attr(&slot->key, &wide);
	perf_event__sample_all_modes(attr); /* on_sample skips those that are excluded */
	attr->disabled = 1;
	attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr->freq = slot->class == SAMPLE_CLASS_FREQ;
	attr->sample_period = rate; /* or, in the same place, sample_freq */
	if (slot->with_addr)
		attr->sample_type |= PERF_SAMPLE_ADDR;
	/* Programs may walk stacks of precise events only where the kernel has walked them before. */
	if (attr->precise_ip)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	return perf_event__open(attr, -1, cpu, -1, 0);
}

/*
 * End the event in place: from now on its samples are ignored, and it is freed soon.
 *
 * Return: 0; -errno: it cannot be read now, and goes on.
 */
static int close_on(struct sample_object *object, int slot, int cpu)
{
	struct sample_base *base = base_of(object, slot, cpu);
	__u32 idx = slot * object->nr_cpus + cpu;
	int err = base->gen ? sample_object__sync(object, cpu, 0, SAMPLE_CLOSE, 1ULL << slot) : 0;

	if (err && err != -ENXIO)
		return err;
	/* On an offline CPU the event died, and what it counted last is lost. */
	base->gen = 0;
	base->rate = 0;
	crash_point__reach("sample-event-read");
	bpf_map_delete_elem(object->map_fds[SAMPLE_EVENTS], &idx);
	__atomic_store_n(&base->may_be_placed, 0, __ATOMIC_RELEASE);
	return 0;
}

/* The program of a slot's next events, loaded for the first of them. */
struct next_prog {
	int fd; /* -1: not loaded yet */
	__u32 gen;
	int err; /* it cannot be loaded */
};

static int put_in_place(struct sample_object *object, int slot, int cpu, int fd,
			const struct next_prog *prog)
{
	struct sample_throttle *throttle = &object->cpus[cpu].slot[slot].throttle;
	__u32 idx = slot * object->nr_cpus + cpu;

	__atomic_store_n(&base_of(object, slot, cpu)->may_be_placed, 1, __ATOMIC_SEQ_CST);
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog->fd) ||
	    bpf_map_update_elem(object->map_fds[SAMPLE_EVENTS], &idx, &fd, BPF_ANY))
		return -errno;
	crash_point__reach("sample-event-placed");
	base_of(object, slot, cpu)->last = 0;
	throttle->counter = throttle->running_ns = 0;
	__atomic_store_n(&base_of(object, slot, cpu)->gen, prog->gen, __ATOMIC_RELEASE);
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	crash_point__reach("sample-event-enabled");
	return 0;
}

/* Return: 0 or -errno, also of an earlier CPU: it takes long. */
static int load_next(struct sample_object *object, int slot, struct next_prog *prog)
{
	if (prog->fd >= 0 || prog->err)
		return prog->err;
	prog->gen = object->plan->gen = object->plan->gen % (SAMPLE_IN_GAP - 1) + 1;
	prog->fd = sample_object__load_prog(object, slot, prog->gen);
	prog->err = prog->fd < 0 ? prog->fd : 0;
	return prog->err;
}

static int open_with(struct sample_object *object, int slot, int cpu, int fd,
		     struct next_prog *prog)
{
	int err = fd < 0 ? fd : load_next(object, slot, prog);

	return err ? err : put_in_place(object, slot, cpu, fd, prog);
}

/*
 * Return: 0; -ENODEV: the CPU is offline; -ENOENT: it lacks the event; other -errno, after which it is tried again.
 */
static int open_on(struct sample_object *object, int slot, int cpu, struct next_prog *prog)
{
	uint64_t rate = sample_rate__needed(object->plan, slot, cpu);
	struct sample_base *base = base_of(object, slot, cpu);
	__u32 epoch = leader_slots__epoch(object->leader, cpu);
	int fd __cleanup(close_fd) = open_event(&object->plan->slot[slot], cpu, rate);
	int err = open_with(object, slot, cpu, fd, prog);

	if (err && err != -ENOENT)
		return err;
	base->epoch = epoch;
	__atomic_store_n(&base->rate, rate, __ATOMIC_RELEASE);
	crash_point__reach("sample-event-opened");
	return err;
}

/* Return: whether an event takes one of the CPU's counters, so that the next one needs another until it is freed. */
static bool takes_counter(const struct sample_slot *slot)
{
	struct perf_event_attr attr;

	memcpy(&attr, slot->key.bytes, sizeof(attr));
	return attr.type != PERF_TYPE_SOFTWARE;
}

static int change(struct sample_object *object, int slot, int cpu, struct next_prog *prog)
{
	bool has_event = base_of(object, slot, cpu)->gen;
	int err = 0;

	if (has_event && sample_rate__needed(object->plan, slot, cpu) &&
	    !takes_counter(&object->plan->slot[slot]))
		(void)load_next(object, slot, prog); /* in prog->err */
	/* Without a program the event in place is better than none. */
	if (prog->err && sample_rate__needed(object->plan, slot, cpu))
		return prog->err;
	err = close_on(object, slot, cpu);
	if (err || !sample_rate__needed(object->plan, slot, cpu))
		return err;
	/* In this time the kernel frees the event that was closed, with its hardware counter. */
	if (has_event)
		err = load_next(object, slot, prog);
	return err ? err : open_on(object, slot, cpu, prog);
}

static bool is_open(const struct sample_object *object, int slot)
{
	for (int cpu = 0; cpu < object->nr_cpus; cpu++) {
		if (base_of(object, slot, cpu)->gen)
			return true;
	}
	return false;
}

static bool may_be_placed(const struct sample_object *object, int slot)
{
	for (int cpu = 0; cpu < object->nr_cpus; cpu++) {
		if (base_of(object, slot, cpu)->may_be_placed)
			return true;
	}
	return false;
}

/* Return: whether a slot that nobody uses is still taken, as after the death of its only user. */
static bool is_left(const struct sample_object *object, int slot)
{
	const struct sample_slot *of = &object->plan->slot[slot];

	return of->class && !of->users && !is_open(object, slot) && !may_be_placed(object, slot);
}

/* Return: whether an event can be changed now. One on an offline CPU can only be closed. */
static bool can_change(const struct sample_object *object, int slot, int cpu,
		       const struct cpumap *online)
{
	return cpumap__has(online, cpu) || !sample_rate__needed(object->plan, slot, cpu);
}

static int apply_on(struct sample_object *object, int slot, const struct cpumap *online)
{
	struct next_prog prog = {.fd = -1};
	int err = 0, refusal = 0;

	for (int cpu = 0; cpu < object->nr_cpus; cpu++) {
		int one;

		if (!is_stale(object, slot, cpu) || !can_change(object, slot, cpu, online))
			continue;
		one = change(object, slot, cpu, &prog);
		/* A CPU of another kind, or one that just went offline, lacks the event. */
		if (one == -ENODEV || one == -ENOENT)
			refusal = one;
		/* One that is kept from its sync keeps its event for now. */
		else if (one == -EBUSY)
			continue;
		else if (!err)
			err = one;
	}
	close_fd(&prog.fd);
	if (err)
		return err;
	return is_open(object, slot) ? 0 : refusal;
}

int sample_slots__apply(struct sample_object *object, int slot)
{
	struct sample_slot *of = &object->plan->slot[slot];
	struct cpumap *online = cpumap__online();
	int err = online ? 0 : -errno;

	if (!err && of->class)
		err = apply_on(object, slot, online);
	cpumap__delete(online);
	/* Without users, once its events are closed, it is free. */
	if (is_left(object, slot))
		__atomic_store_n(&of->class, SAMPLE_CLASS_NONE, __ATOMIC_RELEASE);
	return err;
}

bool sample_slots__is_stale(const struct sample_object *object, int slot)
{
	struct cpumap *online = NULL;
	bool is_any = false;

	if (!object->plan->slot[slot].class)
		return false;
	if (is_left(object, slot))
		return true;
	for (int cpu = 0; cpu < object->nr_cpus && !is_any; cpu++) {
		if (!is_stale(object, slot, cpu))
			continue;
		if (!online)
			online = cpumap__online();
		is_any = online && can_change(object, slot, cpu, online);
	}
	cpumap__delete(online);
	return is_any;
}

bool sample_slots__is_missing(const struct sample_object *object, int slot, int cpu)
{
	return !base_of(object, slot, cpu)->rate && sample_rate__needed(object->plan, slot, cpu);
}

/* --- sessions --- */

static void note_cpus(struct sampler_place *place, const struct cpumap *cpus)
{
	memset(place->other_cpus, cpus ? -1 : 0, sizeof(place->other_cpus));
	for (int i = 0; cpus && i < cpus->nr; i++) {
		int cpu = cpus->cpu[i];

		if (cpu >= 0 && cpu < MAX_SAMPLE_CPUS)
			place->other_cpus[cpu / 64] &= ~(1ULL << cpu % 64);
	}
}

/*
 * Place a session's records of single samples, or remove those of the session before. The kernel waits for a grace
 * period each time, so sessions without records must not get here for nothing.
 *
 * @fd: -1: none
 */
static int place_records(struct sample_object *object, __u32 sampler, int fd)
{
	struct sampler_place *place = &object->plan->sampler[sampler];
	int map_fd = object->map_fds[SAMPLE_RECORDS];

	if (fd < 0) {
		if (place->has_records)
			bpf_map_delete_elem(map_fd, &sampler);
		place->has_records = 0;
		return 0;
	}
	place->has_records = 1;
	if (bpf_map_update_elem(map_fd, &sampler, &fd, BPF_ANY))
		return -errno;
	crash_point__reach("sample-records-placed");
	return 0;
}

int sample_slots__add_sampler(struct sample_object *object, int table_fd, int records_fd,
			      const struct cpumap *cpus)
{
	int session = leader_sample__session(object->leader);
	struct sample_plan *plan = object->plan;
	__u32 i = 0;
	int err;

	while (i < MAX_SAMPLERS && plan->sampler[i].token)
		i++;
	if (i == MAX_SAMPLERS)
		return -ENOSPC;
	if (bpf_map_update_elem(object->map_fds[SAMPLE_TABLES], &i, &table_fd, BPF_ANY))
		return -errno;
	crash_point__reach("sample-table-placed");
	err = place_records(object, i, records_fd);
	if (err)
		return err;
	plan->sampler[i].session = session;
	plan->sampler[i].needs = 0;
	memset(plan->sampler[i].rate, 0, sizeof(plan->sampler[i].rate));
	note_cpus(&plan->sampler[i], cpus);
	plan->of_tasks &= ~(1ULL << i);
	plan->of_cgroups &= ~(1ULL << i);
	plan->of_ranges &= ~(1ULL << i);
	sample_sleepers__wake(plan, i);
	__atomic_store_n(&plan->sampler[i].token, leader_sample__token(object->leader),
			 __ATOMIC_RELEASE);
	crash_point__reach("sampler-added");
	plan->sampler_of[session] = i + 1;
	return i;
}

int sample_slots__set_ranges(struct sample_object *object, int sampler,
			     const struct address_ranges *ranges)
{
	/* Samples that still search the half that is not in use any more end before this. */
	for (int cpu = 0; cpu < object->nr_cpus; cpu++) {
		int err = sample_object__sync(object, cpu, 0, SAMPLE_CLOSE, 0);

		if (err && err != -ENXIO)
			return err;
	}
	return sample_ranges__set(&object->plan->ranges, sampler, ranges);
}

/* Users without a rate take no samples: these may lack what the user needs. */
static void set_takers(struct sample_plan *plan, int slot)
{
	struct sample_slot *of = &plan->slot[slot];
	__u64 takers = 0;
	__u32 needs = 0;

	for (int i = 0; i < MAX_SAMPLERS; i++) {
		if (!(of->users >> i & 1) || !plan->sampler[i].rate[slot])
			continue;
		takers |= 1ULL << i;
		needs |= plan->sampler[i].needs;
	}
	/* Samples that come just now have enough for those that go, and for those that come. */
	of->needs |= needs;
	__atomic_store_n(&of->takers, takers, __ATOMIC_SEQ_CST);
	of->needs = needs;
}

static bool is_slot(const struct sample_plan *plan, int i, const struct attr_key *key,
		    const struct sample_rate *rate, bool with_addr)
{
	const struct sample_slot *slot = &plan->slot[i];

	return slot->class == rate->class && !!slot->with_addr == with_addr &&
	       !memcmp(&slot->key, key, sizeof(*key)) && sample_rate__suits(plan, i, rate);
}

/* Return: the event's slot; else a free one; else -ENOSPC. */
static int find_slot(const struct sample_plan *plan, const struct attr_key *key,
		     const struct sample_rate *rate, bool with_addr)
{
	int free_slot = -ENOSPC;

	for (int i = 0; i < MAX_SAMPLE_SLOTS; i++) {
		if (is_slot(plan, i, key, rate, with_addr))
			return i;
		if (!plan->slot[i].class && free_slot < 0)
			free_slot = i;
	}
	return free_slot;
}

void sample_slots__set_rate(struct sample_object *object, int sampler, int slot, uint64_t rate)
{
	object->plan->sampler[sampler].rate[slot] = rate;
	set_takers(object->plan, slot);
	/* The others may have to look at their stacks more often. */
	for (int i = 0; i < MAX_SAMPLERS && rate; i++) {
		if (i != sampler && object->plan->sampler[i].token) {
			sample_object__wake(object);
			return;
		}
	}
}

int sample_slots__add(struct sample_object *object, int sampler, const struct attr_key *key,
		      const struct sample_rate *rate, uint32_t needs)
{
	bool with_addr = needs & SAMPLE_NEEDS_ADDR;
	int i = find_slot(object->plan, key, rate, with_addr);
	struct sample_slot *slot = &object->plan->slot[i < 0 ? 0 : i];

	if (i < 0)
		return i;
	if (slot->class && slot->users >> sampler & 1)
		return -EEXIST;
	if (!slot->class) {
		slot->key = *key;
		slot->with_addr = with_addr;
		slot->users = slot->takers = 0;
		crash_point__reach("sample-slot-written");
		__atomic_store_n(&slot->class, rate->class, __ATOMIC_RELEASE);
	}
	object->plan->sampler[sampler].needs |= needs;
	__atomic_fetch_or(&slot->users, 1ULL << sampler, __ATOMIC_SEQ_CST);
	sample_slots__set_rate(object, sampler, i, rate->value);
	crash_point__reach("sample-slot-claimed");
	return i;
}

static void leave_slots(struct sample_plan *plan, int sampler)
{
	for (int i = 0; i < MAX_SAMPLE_SLOTS; i++) {
		__atomic_fetch_and(&plan->slot[i].users, ~(1ULL << sampler), __ATOMIC_SEQ_CST);
		set_takers(plan, i);
	}
}

void sample_slots__remove_sampler(struct sample_object *object, int number)
{
	__u32 sampler = number;
	struct sample_plan *plan = object->plan;
	__u32 session = plan->sampler[sampler].session;

	leave_slots(plan, number);
	crash_point__reach("sample-slots-left");
	if (session < MAX_SESSIONS && plan->sampler_of[session] == sampler + 1)
		plan->sampler_of[session] = 0;
	bpf_map_delete_elem(object->map_fds[SAMPLE_TABLES], &sampler);
	if (plan->of_ranges >> sampler & 1)
		(void)sample_slots__set_ranges(object, sampler,
					       NULL); /* or the next one in its place does */
	crash_point__reach("sample-table-removed");
	(void)place_records(object, sampler, -1);
	__atomic_store_n(&plan->sampler[sampler].token, 0, __ATOMIC_RELEASE);
}

static bool is_dead(const struct sample_object *object, int sampler)
{
	__u32 token = __atomic_load_n(&object->plan->sampler[sampler].token, __ATOMIC_ACQUIRE);

	return token && !bpf_info__is_map_alive(token);
}

bool sample_slots__has_dead(const struct sample_object *object)
{
	for (int i = 0; i < MAX_SAMPLERS; i++) {
		if (is_dead(object, i))
			return true;
	}
	return false;
}

/* The kernel waits for grace periods while the tables of one session are removed, and others wait for the lock. */
bool sample_slots__remove_dead(struct sample_object *object)
{
	int nr = 0, last = 0;

	for (int i = 0; i < MAX_SAMPLERS; i++) {
		if (!is_dead(object, i))
			continue;
		leave_slots(object->plan, i);
		last = i;
		nr++;
	}
	if (nr)
		sample_slots__remove_sampler(object, last);
	return nr > 1;
}

// SPDX-License-Identifier: GPL-2.0
#include "util/sample/sample_sync.h"

#include "util/bperf/leader_slots.h"
#include "util/host/cpu_idle.h"
#include "util/host/cpumap.h"
#include "util/lib/util.h"
#include "util/sample/sampler_internal.h"

#include <errno.h>

bool sample_sync__has(const struct sampler *sampler, int cpu)
{
	return !sampler->options.cpus || cpumap__has(sampler->options.cpus, cpu);
}

static void add_count(struct sample_count *sum, const struct sample_count *now,
		      const struct sample_count *last)
{
	sum->nr += now->nr - last->nr;
	sum->weight += now->weight - last->weight;
}

/* Return: how much a number has grown. The part of a gap that was under way may have gone with its event. */
static uint64_t growth(uint64_t now, uint64_t last)
{
	return now > last ? now - last : 0;
}

/*
 * Add what throttling did. A hardware event does not count in a gap. So its loss is what it would have counted at
 * the rate of its bursts on that CPU. Before the first burst it is the rate of its running time.
 */
static void add_gaps(struct sampled_event *event, const struct sample_reading *now,
		     const struct sample_reading *last)
{
	const struct sample_gaps *gaps = &now->gaps;
	uint64_t lost_ns = growth(gaps->lost_ns, last->gaps.lost_ns);
	uint64_t counter = growth(gaps->counter, last->gaps.counter);
	double rate = 0;

	if (gaps->burst_ns)
		rate = (double)gaps->burst_counter / gaps->burst_ns;
	else if (now->running_ns)
		rate = (double)now->counter / now->running_ns;
	event->sum.gaps.ns += growth(gaps->ns, last->gaps.ns);
	event->sum.gaps.counter += counter;
	event->sum.gaps.weight += growth(gaps->weight, last->gaps.weight);
	event->stopped += lost_ns * rate - counter;
}

/*
 * The part of the count that no sample stands for belongs to whoever ran on the CPU meanwhile, in the proportion of the
 * samples. A part that is under way to the next sample is taken back by the next reading. Some machines keep timers from
 * idle CPUs, so there nobody has a sample: the kernel's own number tells their time.
 *
 * @idle_ns: the CPU was idle for so long; -1: unknown
 */
static void add_rest(struct sampled_event *event, const struct sample_reading *now,
		     const struct sample_reading *last, int64_t idle_ns)
{
	uint64_t counted = event->is_clock ? growth(now->enabled_ns, last->enabled_ns) :
					     growth(now->counter, last->counter);
	double seen = growth(now->seen.all.weight, last->seen.all.weight);
	double idle = growth(now->seen.idle.weight, last->seen.idle.weight);
	double rest = counted - seen; /* may be negative */

	if (event->is_clock && idle_ns >= 0) {
		event->idle_missed += idle_ns - idle;
		rest -= idle_ns - idle;
		seen -= idle;
		idle = 0;
	}
	if (seen <= 0)
		return;
	event->idle_rest += rest * idle / seen;
	event->mode_rest += rest * growth(now->seen.mode.weight, last->seen.mode.weight) / seen;
}

/* The kernel's clocks differ by 0.05 percent at most, and on some machines one stands still for a tick. */
#define MIN_ABSENCE_NS (10 * NSEC_PER_MSEC)

/* A CPU that lacks the event has a rate all the same. */
static bool can_have(const struct sampler *sampler, const struct sampled_event *event, int cpu)
{
	const struct sample_base *base = &sampler->object.cpus[cpu].slot[event->slot].base;

	return base->gen || !base->rate;
}

/*
 * Add the time in which a CPU that is online had no event: another one takes its place, or cannot be opened.
 *
 * @time_ns: since the last reading, or a bit less
 */
static void add_absence(struct sampled_event *event, uint64_t time_ns, uint64_t enabled_ns)
{
	if (time_ns > enabled_ns + time_ns / 1000 + MIN_ABSENCE_NS)
		event->absent_ns += time_ns - enabled_ns;
}

/* Return: since when the time without an event is a loss: the last reading, or the CPU's return after it; 0: unknown */
static uint64_t watched_since(const struct sampler *sampler, const struct sampled_event *event,
			      int cpu)
{
	uint64_t up_ns = leader_slots__up_ns(sampler->leader, cpu), read_ns = event->read_ns[cpu];

	return up_ns > read_ns && up_ns > sampler->enabled_at_ns ? up_ns : read_ns;
}

/*
 * Add what an event did on a CPU since its last reading. Without rates it did nothing for this session.
 *
 * @from_ns, @to_ns: the reading is between these two; 0: the CPU is offline
 */
static void take_reading(struct sampler *sampler, struct sampled_event *event, int cpu,
			 uint64_t from_ns, uint64_t to_ns)
{
	const struct sample_reading *now = &sampler->tables[cpu].reading[event->slot];
	struct sample_reading *last = &event->last[cpu], *sum = &event->sum;
	uint64_t since_ns = watched_since(sampler, event, cpu), enabled_ns = 0;

	if (sampler->is_enabled && sampler->has_rates) {
		sum->counter += now->counter - last->counter;
		sum->enabled_ns += now->enabled_ns - last->enabled_ns;
		sum->running_ns += now->running_ns - last->running_ns;
		add_count(&sum->seen.all, &now->seen.all, &last->seen.all);
		add_count(&sum->seen.idle, &now->seen.idle, &last->seen.idle);
		add_count(&sum->seen.mode, &now->seen.mode, &last->seen.mode);
		add_gaps(event, now, last);
		add_rest(event, now, last,
			 cpu_idle__between(sampler->last_idle_ns[cpu], sampler->idle_ns[cpu]));
		sum->err += now->err != 0;
		enabled_ns = growth(now->enabled_ns, last->enabled_ns);
	}
	if (sampler->is_enabled && since_ns && from_ns > since_ns && !now->err &&
	    can_have(sampler, event, cpu))
		add_absence(event, from_ns - since_ns, enabled_ns);
	event->read_ns[cpu] = to_ns;
	*last = *now;
}

/* Read an offline CPU in place of on_sample_sync. An event that went with it cannot be read. */
static void read_offline(struct sampler *sampler, int cpu, int slot)
{
	const struct sample_base *base = &sampler->object.cpus[cpu].slot[slot].base;
	struct sample_reading *reading = &sampler->tables[cpu].reading[slot];

	reading->seen = sampler->object.cpus[cpu].slot[slot].seen;
	/* Counts do not go back. */
	if (base->counter < reading->counter)
		return;
	reading->counter = base->counter;
	reading->enabled_ns = base->enabled_ns;
	reading->running_ns = base->running_ns;
}

/* An offline CPU runs no program: what its tables need is done from here. */
static void sync_offline(struct sampler *sampler, int cpu, uint32_t ops)
{
	struct sample_table *table = &sampler->tables[cpu];

	if (ops & SAMPLE_OFF)
		table->is_on = 0;
	if (ops & SAMPLE_FLIP)
		table->half ^= 1;
	for (int i = 0; i < sampler->nr_events && ops & SAMPLE_READ; i++)
		read_offline(sampler, cpu, sampler->events[i].slot);
	if (ops & SAMPLE_ON)
		table->is_on = 1;
}

/* A CPU was kept from its sync: the next reading has what it counted. */
static void note_failure(struct sampler *sampler, int cpu, uint32_t ops)
{
	/* A sample that is under way is still taken. */
	if (ops & SAMPLE_OFF)
		__atomic_store_n(&sampler->tables[cpu].is_on, 0, __ATOMIC_RELEASE);
	for (int i = 0; i < sampler->nr_events && sampler->is_enabled; i++)
		sampler->events[i].sum.err++;
}

static int sync_cpu(struct sampler *sampler, int cpu, uint32_t ops)
{
	uint64_t from_ns = clock_ns(), to_ns;
	int err = sample_object__sync(&sampler->object, cpu, sampler->number, ops, sampler->slots);

	to_ns = clock_ns();
	if (err == -ENXIO) {
		sync_offline(sampler, cpu, ops);
		from_ns = to_ns = 0;
	} else if (err) {
		note_failure(sampler, cpu, ops);
		return err;
	}
	for (int i = 0; i < sampler->nr_events; i++)
		take_reading(sampler, &sampler->events[i], cpu, from_ns, to_ns);
	sampler->last_idle_ns[cpu] = sampler->idle_ns[cpu];
	return 0;
}

int sample_sync__all(struct sampler *sampler, uint32_t ops)
{
	int first = 0;

	sampler->has_synced = true;
	if (sampler->has_clocks)
		cpu_idle__read(sampler->idle_ns, sampler->object.nr_cpus);
	for (int cpu = 0; cpu < sampler->object.nr_cpus; cpu++) {
		int err = sample_sync__has(sampler, cpu) ? sync_cpu(sampler, cpu, ops) : 0;

		first = first ? first : err;
	}
	return first;
}

// SPDX-License-Identifier: GPL-2.0
#include "util/sample/sample_account.h"

#include "util/host/cpu_idle.h"
#include "util/sample/sampler_internal.h"

/* No estimate is above this, whatever others wrote into shared memory. */
#define MAX_UNCOUNTED (1ULL << 62)

const char *sample_loss__name(enum sample_loss loss)
{
	static const char *const names[NR_SAMPLE_LOSSES] = {
		[SAMPLE_LOST_TABLE] = "table full",
		[SAMPLE_LOST_LATE] = "late",
		[SAMPLE_LOST_BLIND] = "dropped by the kernel",
		[SAMPLE_LOST_THROTTLE] = "throttled",
		[SAMPLE_LOST_TIMER] = "late timer",
	};

	return names[loss];
}

static struct sample_sum to_sum(const struct sample_count *count)
{
	return (struct sample_sum){count->nr, count->weight};
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Return: so many samples have that weight. */
static uint64_t nr_of(const struct sampled_event *event, uint64_t weight)
{
	const struct sample_count *taken = &event->sum.seen.all;

	if (event->is_periodic)
		return weight / event->rate;
	return taken->weight ? (double)weight * taken->nr / taken->weight : 0;
}

/* Return: the part of the rest that belongs to throttling. The time of a clock goes on, and so do software events. */
static uint64_t throttled_of(const struct sampled_event *event, uint64_t rest)
{
	const struct sample_gaps *gaps = &event->sum.gaps;
	uint64_t part = 0;

	if (!event->stops_throttled)
		part = minus(event->is_clock ? gaps->ns : gaps->counter, gaps->weight);
	return part < rest ? part : rest;
}

/* Return: what a hardware event did not count because of throttling. */
static uint64_t uncounted_of(const struct sampled_event *event)
{
	if (!event->stops_throttled || event->stopped <= 0)
		return 0;
	return event->stopped < MAX_UNCOUNTED ? event->stopped : MAX_UNCOUNTED;
}

/*
 * Return: whether a rest of the count is a loss. On each CPU the event is on its way to the next sample: less than a
 * period is none. Where samples weigh what was counted, the next one has all of it.
 *
 * @unknown: of each CPU so much may belong to the idle task
 */
static bool is_loss(const struct sampled_event *event, int nr_cpus, uint64_t rest, uint64_t unknown)
{
	if (event->weighs_count)
		return false;
	if (event->is_periodic)
		return rest > (double)nr_cpus * (event->rate - 1 + unknown);
	return nr_of(event, rest) > (uint64_t)nr_cpus;
}

static double between(double low, double value, double high)
{
	return value < low ? low : value > high ? high : value;
}

/* Return: a rest without the idle time that no sample stands for. */
static uint64_t without_idle(const struct sampled_event *event, uint64_t rest,
			     struct sample_account *account)
{
	uint64_t missed = event->takes_idle ? 0 : between(0, event->idle_missed, rest);

	account->idle.nr += nr_of(event, missed);
	account->idle.weight += missed;
	return rest - missed;
}

/* Split a loss: only the part of this session's target is one. */
static void split_loss(const struct sampled_event *event, uint64_t rest,
		       struct sample_account *account)
{
	uint64_t of_tasks =
		minus(event->sum.seen.all.weight,
		      (event->takes_idle ? 0 : event->sum.seen.idle.weight) + account->mode.weight);
	double part =
		between(0, event->mode_rest + (event->takes_idle ? 0 : event->idle_rest), rest);
	uint64_t elsewhere;

	if (of_tasks)
		part += (rest - part) * account->other.weight / of_tasks;
	elsewhere = between(0, part, rest);
	rest -= elsewhere;
	account->elsewhere = (struct sample_sum){nr_of(event, elsewhere), elsewhere};
	account->lost[SAMPLE_LOST_BLIND] = (struct sample_sum){nr_of(event, rest), rest};
}

/* Split the part of the count that no sample stands for. */
static void split_rest(const struct sampled_event *event, int nr_cpus,
		       struct sample_account *account)
{
	uint64_t rest = minus(account->counted, event->sum.seen.all.weight);
	uint64_t throttled = throttled_of(event, rest);
	uint64_t uncounted = uncounted_of(event), unknown = 0;

	rest -= throttled;
	if (is_loss(event, nr_cpus, rest, 0)) {
		uint64_t left = without_idle(event, rest, account);

		unknown = left < rest ? cpu_idle__step_ns() : 0;
		rest = left;
	}
	if (is_loss(event, nr_cpus, rest, unknown))
		split_loss(event, rest, account);
	else
		account->thinned += rest;
	account->counted += uncounted;
	throttled += uncounted;
	account->lost[SAMPLE_LOST_THROTTLE] =
		(struct sample_sum){nr_of(event, throttled), throttled};
}

void sample_account__get(const struct sampler *sampler, int idx, struct sample_account *account)
{
	const struct sampled_event *event = &sampler->events[idx];
	struct sample_sum *table = &account->lost[SAMPLE_LOST_TABLE];
	uint64_t mine;

	*account = (struct sample_account){
		.taken = to_sum(&event->sum.seen.all),
		.kept = event->kept,
		.mode = to_sum(&event->sum.seen.mode),
		.truncated = event->truncated,
		.unreadable = event->unreadable,
		.enabled_ns = event->sum.enabled_ns,
		.running_ns = event->sum.running_ns,
		.absent_ns = event->absent_ns,
		.failed_reads = event->sum.err,
		.period = event->is_periodic ? event->rate : 0,
	};
	account->counted = event->is_clock ? event->sum.enabled_ns : event->sum.counter;
	account->lost[SAMPLE_LOST_LATE] = event->late;
	if (!event->takes_idle)
		account->idle = to_sum(&event->sum.seen.idle);
	for (int cpu = 0; cpu < sampler->object.nr_cpus; cpu++) {
		const struct sample_event *on = &sampler->tables[cpu].event[event->slot];

		account->thinned += on->credit;
		table->nr += on->lost.nr;
		table->weight += on->lost.weight;
	}
	account->thinned = minus(account->thinned, event->credit);
	mine = event->kept.weight + table->weight + event->late.weight + account->idle.weight +
	       account->mode.weight + account->thinned;
	account->other.weight = minus(event->sum.seen.all.weight, mine);
	/* Samples left out by thinning are not those of other tasks. */
	if (account->other.weight)
		account->other.nr = (double)account->other.weight * event->sum.seen.all.nr /
				    event->sum.seen.all.weight;
	split_rest(event, sampler->object.nr_cpus, account);
}

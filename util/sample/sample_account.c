// SPDX-License-Identifier: GPL-2.0
#include "util/sample/sample_account.h"

#include "util/sample/sampler_internal.h"

const char *sample_loss__name(enum sample_loss loss)
{
	static const char *const names[NR_SAMPLE_LOSSES] = {
		[SAMPLE_LOST_TABLE] = "table full",
		[SAMPLE_LOST_LATE] = "late",
		[SAMPLE_LOST_BLIND] = "dropped by the kernel",
		[SAMPLE_LOST_THROTTLE] = "throttled",
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

/*
 * Split the part of the count that no sample stands for. On each CPU the event is on its way to the next
 * sample: so much, up to a sample per CPU, is no loss. Where samples weigh what was counted, the next one
 * has all of it.
 */
static void split_rest(const struct sampled_event *event, int nr_cpus,
		       struct sample_account *account)
{
	const struct sample_count *taken = &event->sum.seen.all;
	uint64_t rest = minus(account->counted, taken->weight), nr = 0;

	if (event->is_periodic)
		nr = rest / event->rate;
	else if (taken->weight)
		nr = (double)rest * taken->nr / taken->weight;
	if (nr > (uint64_t)nr_cpus && !event->weighs_count)
		account->lost[SAMPLE_LOST_BLIND] = (struct sample_sum){nr, rest};
	else
		account->thinned += rest;
}

void sample_account__get(const struct sampler *sampler, int idx, struct sample_account *account)
{
	const struct sampled_event *event = &sampler->events[idx];
	struct sample_sum *table = &account->lost[SAMPLE_LOST_TABLE];
	uint64_t mine;

	*account = (struct sample_account){
		.taken = to_sum(&event->sum.seen.all),
		.kept = event->kept,
		.truncated = event->truncated,
		.unreadable = event->unreadable,
		.enabled_ns = event->sum.enabled_ns,
		.running_ns = event->sum.running_ns,
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
	       account->thinned;
	account->other.weight = minus(event->sum.seen.all.weight, mine);
	/* Where samples are thinned, those left out are not of others. */
	if (account->other.weight)
		account->other.nr = (double)account->other.weight * event->sum.seen.all.nr /
				    event->sum.seen.all.weight;
	split_rest(event, sampler->object.nr_cpus, account);
}

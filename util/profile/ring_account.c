// SPDX-License-Identifier: GPL-2.0
#include "util/profile/ring_account.h"

#include "util/event/evsel.h"

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Return: the sum of all samples that have arrived. */
static struct sample_sum seen_of(const struct sample_account *account)
{
	const struct sample_sum *const parts[] = {&account->kept, &account->idle, &account->mode,
						  &account->other};
	struct sample_sum sum = {};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		sum.nr += parts[i]->nr;
		sum.weight += parts[i]->weight;
	}
	return sum;
}

/* A throttled clock stands still, but it runs. Other events stop, and the count that they lose is unknown. */
static void account_for_throttling(const struct ring_tally *tally, uint64_t period,
				   struct sample_account *account)
{
	struct sample_sum *lost = &account->lost[SAMPLE_LOST_THROTTLE];

	if (!lost->nr || !period || !tally->stood_ns)
		return;
	*lost = (struct sample_sum){tally->stood_ns / period, tally->stood_ns};
	account->counted += lost->weight;
}

/* Return: a rest without the idle time that no sample stands for: some machines keep timers from idle CPUs. */
static uint64_t without_idle(const struct ring_tally *tally, uint64_t rest, uint64_t period,
			     struct sample_account *account)
{
	uint64_t missed = least(minus(tally->idle_ns, account->idle.weight), rest);

	account->idle.nr += missed / period;
	account->idle.weight += missed;
	return rest - missed;
}

void ring_account__split(const struct ring_tally *tally, struct sample_account *account)
{
	const struct perf_event_attr *attr = &tally->evsel->attr;
	struct sample_sum seen = seen_of(account), *late = &account->lost[SAMPLE_LOST_LATE];
	uint64_t rest = minus(account->counted, seen.weight);
	uint64_t period = seen.nr ? seen.weight / seen.nr : tally->period, unknown = 0;

	/* Nothing tells losses from these two. */
	if (tally->has_prog) {
		account->refused = rest;
		return;
	}
	if (tally->hides_modes && evsel__is_clock(tally->evsel) &&
	    (attr->exclude_user || attr->exclude_kernel)) {
		account->unseen = rest;
		return;
	}
	account_for_throttling(tally, period, account);
	late->weight = least(late->nr * period, rest);
	rest -= late->weight;
	if (period && rest / period > tally->nr_begun) {
		uint64_t left = without_idle(tally, rest, period, account);

		unknown = left < rest ? tally->step_ns : 0;
		rest = left;
	}
	if (period && minus(rest, unknown) / period > tally->nr_begun)
		account->lost[SAMPLE_LOST_TIMER] = (struct sample_sum){rest / period, rest};
	else
		account->thinned = rest;
}

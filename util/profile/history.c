// SPDX-License-Identifier: GPL-2.0
#include "util/profile/history.h"

#include "util/lib/util.h"
#include "util/sample/sampler.h"

#include <errno.h>
#include <stdlib.h>

/* Sums are multiples of this, so that parts of a sample count. */
#define SCALE	256
#define DROPPED (SCALE / 16)

#define NR_COUNTS (sizeof(struct sample_account) / sizeof(uint64_t))

/* Round up what goes, so that everything is gone in the end. */
static uint64_t decayed(uint64_t sum)
{
	return sum - (sum + 7) / 8;
}

static int add_old(struct samples *to, const struct samples *from)
{
	int err = 0;

	for (int i = 0; i < from->keys.nr && !err; i++) {
		const struct samples_sum sum = {
			.nr = decayed(from->sums[i].nr),
			.weight = decayed(from->sums[i].weight),
		};

		if (sum.nr >= DROPPED)
			err = samples__merge(to, from, i, sum);
	}
	return err;
}

static int add_new(struct samples *to, const struct samples *from)
{
	int err = 0;

	for (int i = 0; i < from->keys.nr && !err; i++)
		err = samples__merge(to, from, i,
				     (struct samples_sum){
					     .nr = from->sums[i].nr * SCALE,
					     .weight = from->sums[i].weight * SCALE,
				     });
	return err;
}

/* All members of an account are counts, but for the period. */
static void add_account(struct history *history, int event, const struct sample_account *account)
{
	const uint64_t *from = (const uint64_t *)account;
	uint64_t *scaled = (uint64_t *)&history->scaled[event];
	uint64_t *whole = (uint64_t *)&history->accounts[event];

	for (size_t i = 0; i < NR_COUNTS; i++) {
		scaled[i] = decayed(scaled[i]) + from[i] * SCALE;
		whole[i] = (scaled[i] + SCALE / 2) / SCALE;
	}
	history->accounts[event].period = account->period;
}

static int make_accounts(struct history *history, int nr_events)
{
	if (history->nr_events == nr_events)
		return 0;
	history->scaled = calloc(nr_events, sizeof(*history->scaled));
	history->accounts = calloc(nr_events, sizeof(*history->accounts));
	if (!history->scaled || !history->accounts)
		return -ENOMEM;
	history->nr_events = nr_events;
	return 0;
}

int history__add(struct history *history, const struct samples *samples,
		 const struct sample_account *accounts, int nr_events, uint64_t elapsed_ns,
		 bool zero)
{
	struct samples old;
	int err;

	if (zero)
		history__clear(history);
	old = history->samples;
	history->samples = (struct samples){.symbols = samples->symbols, .scale = SCALE};
	err = add_old(&history->samples, &old);
	samples__reset(&old);
	if (!err)
		err = add_new(&history->samples, samples);
	if (!err)
		err = make_accounts(history, nr_events);
	if (err) {
		history__clear(history);
		return err;
	}
	history->elapsed_ns = decayed(history->elapsed_ns) + elapsed_ns;
	for (int i = 0; i < nr_events; i++)
		add_account(history, i, &accounts[i]);
	return 0;
}

void history__clear(struct history *history)
{
	samples__reset(&history->samples);
	free(history->scaled);
	free(history->accounts);
	*history = (struct history){};
}

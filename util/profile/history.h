/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_HISTORY_H
#define PERF_PROFILE_HISTORY_H

/*
 * The samples of all intervals so far, of which older ones count less.
 *
 * After each interval, every sample counts 7/8 as much as before. When the samples of one key together count
 * less than a sixteenth of a sample, they are dropped: after 21 intervals a single one. So at most the
 * keys of 21 intervals take memory, unless a key has many samples.
 */

#include "util/profile/samples.h"

#include <stdbool.h>

struct sample_account;

/* All zero: nothing yet. */
struct history {
	struct samples samples;		 /* with a scale: parts of samples count */
	struct sample_account *scaled;	 /* one for each event, with the same scale */
	struct sample_account *accounts; /* the same, rounded to whole numbers; for reports */
	uint64_t elapsed_ns;		 /* time that counts as the samples do */
	int nr_events;
};

/**
 * history__add() - let what there is count less, and add an interval
 * @samples: of the interval
 * @accounts: of the interval, one for each of @nr_events events
 * @elapsed_ns: its length
 * @zero: drop all older intervals
 *
 * Return: 0 or -ENOMEM, which drops older intervals.
 */
int history__add(struct history *history, const struct samples *samples,
		 const struct sample_account *accounts, int nr_events, uint64_t elapsed_ns,
		 bool zero);

void history__clear(struct history *history);

#endif

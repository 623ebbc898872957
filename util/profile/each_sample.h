/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_EACH_SAMPLE_H
#define PERF_PROFILE_EACH_SAMPLE_H

/* Every single sample of a profile, in a file without a name: there can be more of them than memory. */

#include <stdint.h>

struct sample_account;
struct sample_entry;

struct each_sample;

/* A single sample. */
struct each_record {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t weight;
	int32_t entry; /* its number in struct samples */
	int32_t event;
};

/** each_sample__new() - none yet, of so many events. NULL after a message */
struct each_sample *each_sample__new(int nr_events);

/**
 * each_sample__add() - keep the single samples of an entry of the sampler
 * @nr: of the entry in struct samples
 *
 * A sample without a place in the file counts as unrecorded.
 */
void each_sample__add(struct each_sample *each, int nr, const struct sample_entry *entry);

/** each_sample__account() - add those of an event that were not kept to its account */
void each_sample__account(struct each_sample *each, int event, struct sample_account *account);

/**
 * each_sample__sort() - all of them by time; none can be added any more
 * @records: receives them, borrowed
 *
 * Return: 0 or -errno, without a message.
 */
int each_sample__sort(struct each_sample *each, const struct each_record **records, uint64_t *nr);
void each_sample__delete(struct each_sample *each);

#endif

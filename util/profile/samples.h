/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_SAMPLES_H
#define PERF_PROFILE_SAMPLES_H

/* Collected samples: equal ones are one entry with a sum. */

#include "util/lib/blob_set.h"

#include <stdbool.h>
#include <stdint.h>

struct sample_entry;
struct symbols;

/* Places of one entry, with inlined functions. */
#define SAMPLES_MAX_PLACES 1024

struct samples_sum {
	uint64_t nr, weight;
};

/* The key of an entry. Fields that the profile does not need are 0. */
struct samples_key {
	uint64_t cgroup;
	uint64_t addr;
	int32_t event;
	int32_t pid, tid;
	int32_t cpu;
	int32_t prio;
	char comm[16];
	uint16_t nr_kernel, nr_user; /* places behind this struct, innermost first */
	uint32_t is_truncated;
};

struct samples {
	struct symbols *symbols; /* borrowed */
	uint32_t key;		 /* SAMPLE_* that are of interest */
	bool no_kernel, no_user; /* frames of this level are left out */
	bool has_mappings;	 /* samples__mappings() is wanted, which makes more entries */
	uint64_t scale;		 /* the sums are multiples of this; 0: 1 */
	size_t max_bytes;	 /* of keys; 0: no limit */
	struct blob_set keys;
	struct samples_sum *sums; /* by number of the key */
	int nr_sums;		  /* at least the number of keys */
	int last;		  /* the number of the entry that was added to last */
};

/** samples__expect() - announce an entry, as sampler__collect() does, so that samples__add() knows its program */
void samples__expect(struct samples *samples, const struct sample_entry *entry);

/**
 * samples__add() - add an entry of the sampler; a sample_fn, @ctx is struct samples
 *
 * Without stacks, the sampled instruction is the only place. Return: 0 or -ENOMEM, also when max_bytes leave no room
 * for a new key. The sample is in no sum then, and later ones may be.
 */
int samples__add(void *ctx, const struct sample_entry *entry);

/**
 * samples__get() - an entry by its number
 * @places: receives the kernel's places and then those of user space, innermost first
 *
 * Borrowed, until the next samples__add().
 */
const struct samples_key *samples__get(const struct samples *samples, int nr, const int **places);

/** samples__mappings() - the mappings of the entry's places of user space, by number; with has_mappings only */
const int *samples__mappings(const struct samples *samples, int nr);

/** samples__put() - add to the sum of an entry that is complete. Return: 0 or -ENOMEM */
int samples__put(struct samples *samples, const struct samples_key *key, const int *places,
		 struct samples_sum sum);

/** samples__merge() - add to the sum of entry @nr of another set with the same symbols; 0 or -ENOMEM */
int samples__merge(struct samples *samples, const struct samples *from, int nr,
		   struct samples_sum sum);

/**
 * samples__add_inlined() - make a copy of all entries in which inlined functions have places of their own
 * @samples: empty, with the same symbols, after symbols__resolve()
 *
 * An entry whose inlined functions exceed SAMPLES_MAX_PLACES has only the innermost of them.
 * Return: 0 or -ENOMEM; samples__reset() releases it in any case.
 */
int samples__add_inlined(struct samples *samples, const struct samples *from);

/** samples__reset() - remove all entries, e.g. for the next interval */
void samples__reset(struct samples *samples);

#endif

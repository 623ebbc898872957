// SPDX-License-Identifier: GPL-2.0
#include "util/profile/samples.h"

#include "util/lib/array.h"
#include "util/profile/callchain.h"
#include "util/sample/sampler.h"
#include "util/symbol/symbols.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A key with its places, and, if they are wanted, the mappings of those of user space. */
struct full_key {
	struct samples_key key;
	int places[SAMPLES_MAX_PLACES];
};

static_assert(SAMPLES_MAX_PLACES >= 3 * SAMPLE_MAX_FRAMES, "all frames have room, with mappings");

static void fill_key(const struct samples *samples, const struct sample_entry *entry,
		     struct samples_key *key)
{
	key->event = entry->event;
	if (samples->key & SAMPLE_CGROUP)
		key->cgroup = entry->cgroup;
	if (samples->key & SAMPLE_ADDR)
		key->addr = entry->addr;
	if (samples->key & SAMPLE_PROCESS)
		key->pid = entry->pid;
	if (samples->key & SAMPLE_THREAD)
		key->tid = entry->tid;
	if (samples->key & SAMPLE_CPU)
		key->cpu = entry->cpu;
	if (samples->key & SAMPLE_PRIO)
		key->prio = entry->prio;
	if (samples->key & SAMPLE_COMM)
		snprintf(key->comm, sizeof(key->comm), "%s", entry->comm);
}

static struct process_key key_of(const struct sample_entry *entry)
{
	return (struct process_key){
		.pid = entry->pid,
		.start_ns = entry->start_ns,
		.exec_id = entry->exec_id,
		.comm = entry->comm,
	};
}

static bool has_places(const struct samples *samples)
{
	return samples->key & (SAMPLE_IP | SAMPLE_KERNEL_STACK | SAMPLE_USER_STACK);
}

/* Return: whether places of user space are wanted that an entry has. */
static bool has_user(const struct samples *samples, const struct sample_entry *entry)
{
	bool has_stack = samples->key & (SAMPLE_KERNEL_STACK | SAMPLE_USER_STACK);

	return has_places(samples) && !samples->no_user &&
	       (entry->nr_user || (!has_stack && entry->is_user));
}

void samples__expect(struct samples *samples, const struct sample_entry *entry)
{
	const struct process_key key = key_of(entry);

	if (has_user(samples, entry))
		symbols__expect(samples->symbols, &key);
}

/* The key that is filled, and the process of its addresses, 0 if there are none of user space. */
struct filler {
	const struct samples *samples;
	struct full_key *full;
	int process;
	struct process_key who;
};

/*
 * Return: the frames before the first one that is a mark of callchains in perf.data. User space can have any value as
 * a return address. Readers discard a whole callchain for an unknown mark.
 */
static int nr_real(const uint64_t *addresses, int nr)
{
	for (int i = 0; i < nr; i++) {
		if (callchain__is_mark(addresses[i]))
			return i;
	}
	return nr;
}

/* Return: 0 or -ENOMEM. */
static int add_places(const struct filler *filler, const uint64_t *addresses, int nr,
		      bool is_kernel)
{
	struct full_key *full = filler->full;
	uint16_t *count = is_kernel ? &full->key.nr_kernel : &full->key.nr_user;
	int first = full->key.nr_kernel + full->key.nr_user;

	for (int i = 0; i < nr && i < SAMPLE_MAX_FRAMES; i++) {
		int place = symbols__place(filler->samples->symbols, filler->process, &filler->who,
					   addresses[i], is_kernel, i > 0);

		if (place < 0)
			return place;
		full->places[first + i] = place;
		++*count;
	}
	return 0;
}

/* Behind the places. Return: 0 or -ENOMEM. */
static int add_mappings(const struct filler *filler, const uint64_t *addresses)
{
	struct full_key *full = filler->full;
	int first = full->key.nr_kernel + full->key.nr_user;

	for (int i = 0; i < full->key.nr_user; i++) {
		int mapping = symbols__mapping(filler->samples->symbols, filler->process,
					       &filler->who, addresses[i]);

		if (mapping < 0)
			return mapping;
		full->places[first + i] = mapping;
	}
	return 0;
}

static int fill_places(const struct samples *samples, const struct sample_entry *entry,
		       struct full_key *full)
{
	struct filler filler = {
		.samples = samples,
		.full = full,
		.who = key_of(entry),
	};
	bool has_stack = samples->key & (SAMPLE_KERNEL_STACK | SAMPLE_USER_STACK);
	int err = 0;

	if (!has_places(samples))
		return 0;
	if (has_user(samples, entry)) {
		filler.process = symbols__process(samples->symbols, &filler.who);
		if (filler.process < 0)
			return filler.process;
	}
	if (!has_stack)
		return (entry->is_user ? samples->no_user : samples->no_kernel) || !entry->ip ?
			       0 :
			       add_places(&filler, &entry->ip, 1, !entry->is_user);
	if (!samples->no_kernel)
		err = add_places(&filler, entry->kernel_ips, entry->nr_kernel, true);
	if (!err && !samples->no_user)
		err = add_places(&filler, entry->user_ips, nr_real(entry->user_ips, entry->nr_user),
				 false);
	if (!err && samples->has_mappings)
		err = add_mappings(&filler, entry->user_ips);
	return err;
}

/* Return: whether there can be one more key; also for its sum, which it must not be without. */
static bool has_room(struct samples *samples, size_t len)
{
	if (samples->max_bytes && samples->keys.data_len + len > samples->max_bytes)
		return false;
	return samples->nr_sums > samples->keys.nr || array__add(samples->sums, samples->nr_sums);
}

/* @key: struct samples_key with its places */
static int add_sum(struct samples *samples, const void *key, size_t len, struct samples_sum sum)
{
	int nr = has_room(samples, len) ? blob_set__add(&samples->keys, key, len) :
					  blob_set__find(&samples->keys, key, len);

	if (nr < 0)
		return -ENOMEM;
	samples->last = nr;
	samples->sums[nr].nr += sum.nr;
	samples->sums[nr].weight += sum.weight;
	return 0;
}

/* Return: the bytes of a key with its places, and with its mappings. */
static size_t size_of(const struct samples_key *key, bool has_mappings)
{
	return sizeof(*key) +
	       (key->nr_kernel + key->nr_user * (has_mappings ? 2 : 1)) * sizeof(int);
}

int samples__add(void *ctx, const struct sample_entry *entry)
{
	struct samples *samples = ctx;
	struct full_key full;
	int err;

	memset(&full.key, 0, sizeof(full.key));
	fill_key(samples, entry, &full.key);
	full.key.is_truncated = entry->is_truncated;
	err = fill_places(samples, entry, &full);
	if (err)
		return err;
	return add_sum(samples, &full, size_of(&full.key, samples->has_mappings),
		       (struct samples_sum){entry->nr_samples, entry->weight});
}

int samples__put(struct samples *samples, const struct samples_key *key, const int *places,
		 struct samples_sum sum)
{
	struct full_key full = {.key = *key};

	memcpy(full.places, places, (key->nr_kernel + key->nr_user) * sizeof(*places));
	return add_sum(samples, &full, size_of(key, false), sum);
}

const int *samples__mappings(const struct samples *samples, int nr)
{
	const struct full_key *full = blob_set__get(&samples->keys, nr, NULL);

	return full->places + full->key.nr_kernel + full->key.nr_user;
}

int samples__merge(struct samples *samples, const struct samples *from, int nr,
		   struct samples_sum sum)
{
	size_t len;
	const void *key = blob_set__get(&from->keys, nr, &len);

	return add_sum(samples, key, len, sum);
}

/* --- inlined functions --- */

/*
 * Put a place behind the others, after what is inlined there, innermost first.
 * @room: for so many places, at least one. Return: how many were put.
 */
static int put_inlined(const struct symbols *symbols, int place, int *places, int room)
{
	int nr = 0;

	for (int inner = place; inner >= 0; inner = symbols__inner(symbols, inner))
		nr++;
	if (nr > room)
		nr = 1;
	for (int i = nr - 1; i >= 0; i--) {
		places[i] = place;
		place = symbols__inner(symbols, place);
	}
	return nr;
}

static int add_inlined(struct samples *samples, const struct samples *from, int nr)
{
	const int *places;
	const struct samples_key *key = samples__get(from, nr, &places);
	int end = key->nr_kernel + key->nr_user, len = 0;
	struct full_key full;

	full.key = *key;
	full.key.nr_kernel = full.key.nr_user = 0;
	for (int i = 0; i < end; i++) {
		/* Every place has room, whatever is inlined before it. */
		int put = put_inlined(from->symbols, places[i], full.places + len,
				      SAMPLES_MAX_PLACES - len - (end - i - 1));

		*(i < key->nr_kernel ? &full.key.nr_kernel : &full.key.nr_user) += put;
		len += put;
	}
	return add_sum(samples, &full, sizeof(full.key) + len * sizeof(int), from->sums[nr]);
}

int samples__add_inlined(struct samples *samples, const struct samples *from)
{
	int err = 0;

	for (int i = 0; i < from->keys.nr && !err; i++)
		err = add_inlined(samples, from, i);
	return err;
}

const struct samples_key *samples__get(const struct samples *samples, int nr, const int **places)
{
	const struct full_key *full = blob_set__get(&samples->keys, nr, NULL);

	*places = full->places;
	return &full->key;
}

void samples__reset(struct samples *samples)
{
	blob_set__clear(&samples->keys);
	free(samples->sums);
	samples->sums = NULL;
	samples->nr_sums = 0;
}

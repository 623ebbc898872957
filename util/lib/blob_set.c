// SPDX-License-Identifier: GPL-2.0
#include "util/lib/blob_set.h"

#include "util/lib/array.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 8UL

/* FNV-1a over words, with a last mix, because slots take the low bits. */
static uint64_t hash_of(const void *data, size_t len)
{
	const unsigned char *at = data;
	uint64_t hash = 0xcbf29ce484222325ULL ^ len;

	for (; len >= sizeof(uint64_t); len -= sizeof(uint64_t), at += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, at, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 29;
	}
	for (; len; len--)
		hash = (hash ^ *at++) * 0x100000001b3ULL;
	hash *= 0xff51afd7ed558ccdULL;
	return hash ^ hash >> 32;
}

/* Return: the slot of a byte string, or the free one where it belongs. */
static int find(const struct blob_set *set, uint64_t hash, const void *data, size_t len)
{
	int i = hash & (set->nr_slots - 1);

	for (; set->slots[i] >= 0; i = (i + 1) & (set->nr_slots - 1)) {
		const struct blob *blob = &set->blobs[set->slots[i]];

		if (blob->hash == hash && blob->len == len &&
		    !memcmp(set->data + blob->at, data, len))
			break;
	}
	return i;
}

static bool grow_slots(struct blob_set *set)
{
	int nr = set->nr_slots ? 2 * set->nr_slots : 64;
	int *slots = malloc(nr * sizeof(*slots));

	if (!slots)
		return false;
	memset(slots, 0xff, nr * sizeof(*slots));
	for (int i = 0; i < set->nr; i++) {
		int slot = set->blobs[i].hash & (nr - 1);

		while (slots[slot] >= 0)
			slot = (slot + 1) & (nr - 1);
		slots[slot] = i;
	}
	free(set->slots);
	set->slots = slots;
	set->nr_slots = nr;
	return true;
}

static bool grow_data(struct blob_set *set, size_t len)
{
	size_t cap = set->data_cap ? set->data_cap : 4096;
	char *data;

	while (cap - set->data_len < len + ALIGN) {
		if (cap > SIZE_MAX / 2)
			return false;
		cap *= 2;
	}
	data = realloc(set->data, cap);
	if (!data)
		return false;
	set->data = data;
	set->data_cap = cap;
	return true;
}

/* Make room for one more. */
static bool make_room(struct blob_set *set, size_t len)
{
	if (set->nr >= INT_MAX / 4)
		return false;
	if (2 * (set->nr + 1) > set->nr_slots && !grow_slots(set))
		return false;
	return set->data_cap - set->data_len >= len + ALIGN || grow_data(set, len);
}

/* Return: the number of a byte string, -ENOENT: it is not there. */
static int look_up(const struct blob_set *set, uint64_t hash, const void *data, size_t len)
{
	int nr = set->nr_slots ? set->slots[find(set, hash, data, len)] : -1;

	return nr < 0 ? -ENOENT : nr;
}

int blob_set__find(const struct blob_set *set, const void *data, size_t len)
{
	return look_up(set, hash_of(data, len), data, len);
}

int blob_set__add(struct blob_set *set, const void *data, size_t len)
{
	uint64_t hash = hash_of(data, len);
	int slot, nr = look_up(set, hash, data, len);
	struct blob *blob;

	/* It needs no memory. */
	if (nr >= 0)
		return nr;
	if (!make_room(set, len))
		return -ENOMEM;
	slot = find(set, hash, data, len);
	blob = array__add(set->blobs, set->nr);
	if (!blob)
		return -ENOMEM;
	*blob = (struct blob){.hash = hash, .at = set->data_len, .len = len};
	memcpy(set->data + set->data_len, data, len);
	set->data_len += (len + ALIGN - 1) & ~(ALIGN - 1);
	set->slots[slot] = set->nr - 1;
	return set->nr - 1;
}

const void *blob_set__get(const struct blob_set *set, int nr, size_t *len)
{
	if (len)
		*len = set->blobs[nr].len;
	return set->data + set->blobs[nr].at;
}

void blob_set__clear(struct blob_set *set)
{
	free(set->blobs);
	free(set->data);
	free(set->slots);
	*set = (struct blob_set){};
}

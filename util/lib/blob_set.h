/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_BLOB_SET_H
#define PERF_LIB_BLOB_SET_H

/* A set of byte strings that are numbered from 0 in the order of their arrival. */

#include <stddef.h>
#include <stdint.h>

/* All zero: empty. */
struct blob_set {
	struct blob {
		uint64_t hash;
		size_t at, len; /* in data */
	} * blobs;
	int nr;
	char *data;
	size_t data_len, data_cap;
	int *slots; /* numbers of blobs, -1: free; nr_slots is 0 or a power of two */
	int nr_slots;
};

/**
 * blob_set__add() - the number of a byte string, which is copied if it is new
 *
 * Return: its number, or -ENOMEM, but not for one that is not new.
 */
int blob_set__add(struct blob_set *set, const void *data, size_t len);

/** blob_set__find() - the number of a byte string; -ENOENT: the set does not have it */
int blob_set__find(const struct blob_set *set, const void *data, size_t len);

/**
 * blob_set__get() - a byte string by its number, aligned to 8 bytes
 * @len: receives its length; NULL: not of interest
 *
 * Borrowed, until the next blob_set__add().
 */
const void *blob_set__get(const struct blob_set *set, int nr, size_t *len);

/** blob_set__clear() - remove all and free the memory */
void blob_set__clear(struct blob_set *set);

#endif

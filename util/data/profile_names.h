/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_PROFILE_NAMES_H
#define PERF_DATA_PROFILE_NAMES_H

/* The places and images of a profile that is written: their numbers in the file, and their names. */

#include "util/lib/id_map.h"

struct data_writer;
struct samples;
struct symbols;

/* All zero: empty. */
struct profile_names {
	const struct symbols *symbols; /* borrowed */
	int *places;		       /* numbers of symbols, in the order of the file */
	int nr_places;
	struct id_map place_nrs; /* numbers in the file, of symbols' number + 1 */
	int *images;		 /* one place of each, in the order of the file */
	int nr_images;
	struct id_map image_nrs; /* likewise; the kernel has none */
};

/** profile_names__collect() - number all places of the samples. Return: 0 or -ENOMEM */
int profile_names__collect(struct profile_names *names, const struct samples *samples);
void profile_names__clear(struct profile_names *names);

/** profile_names__nr() - the number of a place in the file */
int profile_names__nr(const struct profile_names *names, int place);

/** profile_names__put() - write images and places. @id: of an event. Return: 0 or -errno after a message */
int profile_names__put(const struct profile_names *names, struct data_writer *writer, uint64_t id);

#endif

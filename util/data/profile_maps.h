/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_PROFILE_MAPS_H
#define PERF_DATA_PROFILE_MAPS_H

/*
 * Mappings, names of threads and build ids of a profile that is written.
 *
 * Readers that look for the names of functions themselves need them.
 */

#include "util/data/thread_names.h"
#include "util/lib/byte_buffer.h"
#include "util/symbol/maps.h"

#include <stdbool.h>
#include <stdint.h>

struct data_writer;
struct profile_names;
struct samples;
struct samples_key;

/* All zero but the borrowed pointers and has_times: nothing was written yet. */
struct profile_maps {
	struct data_writer *writer;	   /* borrowed, as are the next two */
	const struct profile_names *names; /* of the samples */
	const struct samples *samples;
	bool has_times;	  /* records have an id at their end, with a time */
	bool has_cpus;	  /* and a CPU */
	uint64_t time_ns; /* of the next records */
	/* As the records up to now leave it. */
	struct thread_names threads;
	struct id_map process_nrs; /* pid + 1 */
	struct maps **processes;   /* ranges are mappings of symbols, 0 of memory without a file */
	int nr_processes;
};

/** profile_maps__put_build_ids() - fill the feature with the build ids of the kernel and of all files */
void profile_maps__put_build_ids(const struct profile_maps *maps, struct byte_buffer *feature);

/** profile_maps__put_kernel() - write kernel, modules and BPF programs. Return: 0 or -errno after a message */
int profile_maps__put_kernel(struct profile_maps *maps);

/**
 * profile_maps__put() - write what a reader must know before it reads a sample
 * @nr: the entry of the sample
 * @chain: receives the addresses of its frames, with the marks of their levels
 *
 * Return: 0 or -errno after a message.
 */
int profile_maps__put(struct profile_maps *maps, int nr, struct byte_buffer *chain);

/**
 * profile_maps__end() - end a record of one of the kernel's types
 * @key: of the sample that the record is for; NULL: for all
 *
 * Return: as data_writer__put().
 */
int profile_maps__end(const struct profile_maps *maps, uint32_t type, uint16_t misc,
		      const struct samples_key *key, struct byte_buffer *body);
void profile_maps__clear(struct profile_maps *maps);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_PROFILE_FORMAT_H
#define PERF_DATA_PROFILE_FORMAT_H

/*
 * A profile in perf.data.
 *
 * Other readers see samples as the kernel writes them. An entry of the profile is one sample; its period is
 * the entry's weight. Samples have no time, so readers take the records in their order. The mappings
 * and the name of a thread come before the first sample that needs them. They come again after another
 * program or mapping has taken their place.
 *
 * With PROFILE_EACH, single samples come in the order of their times (CLOCK_MONOTONIC). All records of the
 * kernel's types end with an id that has the time then. UPDATE_ENTRY and LOST_SAMPLES have the samples that are not
 * among them.
 *
 * Names are ours, in records EVENT_UPDATE that others pass over, before the first sample:
 * UPDATE_PROFILE	u32 version, u32 key (SAMPLE_*), u32 rate kind, u32 PROFILE_*, u64 rate, u64 time in ns,
 *			u64 ns that the profile is of, target as text
 * UPDATE_ACCOUNT	for each event: struct sample_account
 * UPDATE_IMAGES	numbered from 1 on, the kernel is 0: u64 kind, path as text
 * UPDATE_BUILD_IDS	u32 number of an image, u32 length, 20 bytes
 * UPDATE_PLACES	numbered from 0 on: u64 position in the image, u64 offset in the function, u32 image,
 *			u32 flags, module as text, function as text
 * UPDATE_JIT_CODE	behind all images: u32 number of an image, u32 length, the next bytes of a jitdump with its sampled
 *			functions
 * UPDATE_ENTRY		with PROFILE_EACH, all entries in their order: name of the thread as text; a sample's fields
 *			behind its event, for the samples without a record; their number may be 0
 *
 * The raw data of a sample has the rest: u32 flags, u64 number of samples, s32 prio. Then come u16 frames of the
 * kernel, u16 frames of user space, and the places of all frames as u32, innermost first.
 */

#include "util/data/format.h"
#include "util/sample/sample_types.h"

#define PROFILE_VERSION 6

/* Numbers of events: this and so on. */
#define PROFILE_FIRST_ID 1

/* Flags of a profile. */
#define PROFILE_EACH 1

/* Readers may sort records up to one FINISHED_ROUND at a time. */
#define PROFILE_ROUND 4096

#define PROFILE_PLACE_UNKNOWN	 1 /* the function is a text such as "file+0x1f0" */
#define PROFILE_PLACE_RETURN	 2 /* the position is that behind a call */
#define PROFILE_SAMPLE_TRUNCATED 1

/* Bytes of a sample's raw data before the places. */
#define PROFILE_RAW_FIXED 20

/* Every version of the format has its own account. */
static_assert(sizeof(struct sample_account) == 37 * sizeof(uint64_t), "as on disk");

/** profile_sample_type() - the parts that samples of a profile with this key (SAMPLE_*) have, perhaps the time */
static inline uint64_t profile_sample_type(uint32_t key, bool has_time)
{
	return PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD |
	       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW | (has_time ? PERF_SAMPLE_TIME : 0) |
	       (key & SAMPLE_ADDR ? PERF_SAMPLE_ADDR : 0) |
	       (key & SAMPLE_CPU ? PERF_SAMPLE_CPU : 0) |
	       (key & SAMPLE_CGROUP ? PERF_SAMPLE_CGROUP : 0);
}

#endif

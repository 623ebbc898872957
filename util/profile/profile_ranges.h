/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_PROFILE_RANGES_H
#define PERF_PROFILE_PROFILE_RANGES_H

/* The ranges of --range: as the user names them, and their addresses. */

#include "util/lib/address_ranges.h"

#include <stdbool.h>
#include <sys/types.h>

struct symbols;
struct target;

struct profile_ranges {
	struct range_name {
		const char *text; /* borrowed */
		bool is_found;
	} * names;
	int nr;
	struct address_ranges found; /* sorted */
};

/** profile_ranges__add() - add a name, or addresses; 0, -ENOMEM, or -EINVAL after a message */
int profile_ranges__add(struct profile_ranges *ranges, const char *text);

/** profile_ranges__find_kernel() - find numbers, and functions and modules of the kernel; 0 or -ENOMEM */
int profile_ranges__find_kernel(struct profile_ranges *ranges, struct symbols *symbols);

/**
 * profile_ranges__find_user() - find all other names in the processes of a target
 * @workload: its only process; 0: those of the target, or all
 *
 * Return: 0 or -errno; -EINVAL: a name was not found, after a message.
 */
int profile_ranges__find_user(struct profile_ranges *ranges, struct symbols *symbols,
			      const struct target *target, pid_t workload);

/** profile_ranges__has_all() - whether all names are found */
bool profile_ranges__has_all(const struct profile_ranges *ranges);

/** profile_ranges__colon() - the colon of FILE:FUNCTION; NULL: there is none. C++ has double ones */
const char *profile_ranges__colon(const char *text);

void profile_ranges__clear(struct profile_ranges *ranges);

#endif

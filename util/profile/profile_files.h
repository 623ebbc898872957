/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_PROFILE_FILES_H
#define PERF_PROFILE_PROFILE_FILES_H

/* Files for other programs, written beside the printed profile: flame graphs, pprof. */

#include "util/lib/new_file.h"

#include <stdbool.h>

struct profile_report;

enum profile_file { PROFILE_FLAMEGRAPH, PROFILE_PPROF, NR_PROFILE_FILES };

/* All zero: none. */
struct profile_files {
	const char *paths[NR_PROFILE_FILES]; /* NULL: not wanted; borrowed */
	struct new_file files[NR_PROFILE_FILES];
};

/** profile_files__has_any() - whether any file is wanted */
bool profile_files__has_any(const struct profile_files *files);

/** profile_files__open() - open them, before sampling begins. Return: 0 or -errno after a message */
int profile_files__open(struct profile_files *files);

/** profile_files__write() - write and complete all that can be. Return: 0 or the first -errno after a message */
int profile_files__write(struct profile_files *files, const struct profile_report *report);

/** profile_files__close() - remove those that are not complete */
void profile_files__close(struct profile_files *files);

#endif

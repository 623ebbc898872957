/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_EARLY_MAPS_H
#define PERF_PROFILE_EARLY_MAPS_H

/*
 * The mappings of processes that ran before the profile began.
 *
 * No record tells them. Samples are collected up to a second after they were taken, and a process may have
 * ended by then. So perf reads all of a target's at the beginning, a part at a time where there are many.
 */

#include "util/target/pid_list.h"

#include <stdint.h>

struct symbols;
struct target;

/* All zero: nothing to read. */
struct early_maps {
	struct pid_list pids;
	int nr_read;
};

/** early_maps__begin() - list the processes of a target; none if it is a command alone. 0 or -ENOMEM */
int early_maps__begin(struct early_maps *maps, const struct target *target);

/**
 * early_maps__read() - read mappings for some time, or until all are read
 * @limit_ns: at least one process is read
 *
 * Call it after symbols__update(). Return: 0 or -ENOMEM.
 */
int early_maps__read(struct early_maps *maps, struct symbols *symbols, uint64_t limit_ns);

void early_maps__clear(struct early_maps *maps);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_PROFILE_REPLAY_H
#define PERF_DATA_PROFILE_REPLAY_H

/* A profile, read from perf.data. */

#include "util/profile/cgroup_names.h"
#include "util/profile/samples.h"
#include "util/sample/sample_types.h"

#include <stdint.h>

struct evlist;
struct symbols;

/* All zero: nothing was read. Everything is owned. */
struct profile_replay {
	uint32_t key; /* SAMPLE_* of the samples */
	enum sample_rate_kind rate_kind;
	uint64_t rate;
	uint64_t time_ns, elapsed_ns; /* as of struct profile_report */
	char *target;
	struct evlist *events;
	struct sample_account *accounts; /* of each event */
	struct symbols *symbols;	 /* with the names of all places */
	struct samples samples;		 /* no_kernel and no_user are the caller's */
	struct cgroup_names cgroups;
};

/**
 * profile_replay__read() - read a file that profile_record wrote
 * @path: "-": stdin
 *
 * The file may hold any bytes. Return: 0, or -errno after a message; -EINVAL: no profile, or a faulty one.
 * Released by profile_replay__clear() in any case.
 */
int profile_replay__read(struct profile_replay *replay, const char *path);
void profile_replay__clear(struct profile_replay *replay);

#endif

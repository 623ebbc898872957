/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SAMPLE_SAMPLE_SCOPES_H
#define PERF_SAMPLE_SAMPLE_SCOPES_H

/* The scopes of a sampling session: the leader's programs then know which of its tasks a CPU runs. */

#include <sys/types.h>

struct bperf_leader;
struct cgroup;
struct cgroup_fs;
struct target;

/**
 * sample_scopes__add_tasks() - follow the tasks of a target, under the lock of tasks
 * @workload: a held workload, which is followed from its exec on; 0: those that the target names
 *
 * Return: 0; without a message, -ESRCH: all have ended, or scope__why_full() has the reason; other -errno after a
 * message.
 */
int sample_scopes__add_tasks(struct bperf_leader *leader, const struct target *target,
			     pid_t workload);

/** sample_scopes__add_cgroups() - follow cgroups and all below them, likewise */
int sample_scopes__add_cgroups(struct bperf_leader *leader, const struct cgroup_fs *fs,
			       struct cgroup *const *cgroups, int nr);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_CGROUP_NAMES_H
#define PERF_PROFILE_CGROUP_NAMES_H

/* Names of cgroups by the kernel's numbers, remembered after a cgroup is gone. */

#include "util/lib/id_map.h"

#include <stdbool.h>
#include <stdint.h>

struct cgroup;

struct cgroup_names {
	struct id_map by_id;
	char **names;
	int nr;
	struct cgroup *const *only; /* names of these and what is below; borrowed. NULL: all */
	int nr_only;
};

/**
 * cgroup_names__update() - look for cgroups that are not known yet
 *
 * With @only, a cgroup below one of these has its name, that of the innermost. Return: 0 or -errno, without
 * a message; numbers that are not found print as numbers.
 */
int cgroup_names__update(struct cgroup_names *names);

/** cgroup_names__add() - a cgroup has this name, unless it has one already; 0 or -ENOMEM */
int cgroup_names__add(struct cgroup_names *names, uint64_t id, const char *name);

/** cgroup_names__get() - the name of a cgroup, borrowed; NULL: not known */
const char *cgroup_names__get(const struct cgroup_names *names, uint64_t id);

/** cgroup_names__is_below() - whether a path is that of a cgroup or lies below it */
bool cgroup_names__is_below(const char *path, const char *name);

void cgroup_names__clear(struct cgroup_names *names);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_HEADER_READ_H
#define PERF_DATA_HEADER_READ_H

/* The features in the header of perf.data, read: the machine and the run. */

#include "util/data/format.h"

#include <stddef.h>

struct topology;

struct header_fields {
	char *command; /* the command line; NULL: unknown */
	char *version; /* of perf; NULL */
	char **names;  /* of the events; NULL: unknown; each may be NULL */
	int nr_names;
	struct topology *topology; /* NULL: unknown */
	struct {
		uint32_t type;
		char *name;
	} * pmus;
	int nr_pmus;
};

/**
 * header_fields__add() - read one feature
 * @data: its section, @len bytes
 *
 * CPU_TOPOLOGY needs NRCPUS before it, NUMA_TOPOLOGY and CACHE need CPU_TOPOLOGY. Ignores other
 * features. Return: 0, -EINVAL: malformed, -ENOMEM.
 */
int header_fields__add(struct header_fields *fields, enum data_feature feature, const char *data,
		       size_t len);

/** header_fields__pmu() - the name of a PMU, NULL if unknown. Borrowed */
const char *header_fields__pmu(const struct header_fields *fields, uint32_t type);
void header_fields__clear(struct header_fields *fields);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_DATA_FEATURES_H
#define PERF_UTIL_DATA_FEATURES_H

/* What perf.data says of the machine and the run besides the counts: the features of its header. */

#include "bytes.h"
#include "perf_data.h"

struct evlist;
struct pmus;
struct topology;

/**
 * data_features__fill() - describe this machine and this run
 * @features: by number; cleared by data_features__clear()
 * @attrs: of the events of @evlist, in their order
 * @argv: the command line behind the program's name
 * @sysfs: root of sysfs
 *
 * What the machine does not say is left out. Return: 0 or -ENOMEM.
 */
int data_features__fill(struct bytes features[NR_FEATURES], const struct evlist *evlist,
			const struct data_attr *attrs, struct pmus *pmus, int argc,
			char *const *argv, const char *sysfs);
void data_features__clear(struct bytes features[NR_FEATURES]);

/* The same, read. */
struct data_facts {
	char *command;			/* the command line; NULL: not said */
	char *version;			/* of perf; NULL */
	char **names;			/* of the events; NULL: not said, each may be */
	int nr_names;
	struct topology *topology;	/* NULL: not said */
	struct { uint32_t type; char *name; } *pmus;
	int nr_pmus;
};

/**
 * data_facts__add() - read one feature
 * @data: its section, @len bytes
 *
 * CPU_TOPOLOGY needs NRCPUS before it, NUMA_TOPOLOGY and CACHE need that. Features of no interest
 * are passed over. Return: 0, -EINVAL: it is not as it should be, -ENOMEM.
 */
int data_facts__add(struct data_facts *facts, enum data_feature feature, const char *data,
		    size_t len);

/** data_facts__pmu() - the name of a PMU, NULL when it is not said. Borrowed */
const char *data_facts__pmu(const struct data_facts *facts, uint32_t type);
void data_facts__clear(struct data_facts *facts);

#endif

// SPDX-License-Identifier: GPL-2.0
#include "util/event/counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct counts *counts__new(int nr_cpus, int nr_threads)
{
	size_t nr = (size_t)nr_cpus * nr_threads;
	struct counts *counts;

	counts = calloc(1, sizeof(*counts) + nr * sizeof(counts->values[0]) +
				   nr_cpus * sizeof(counts->offline[0]));
	if (!counts) {
		errno = ENOMEM;
		return NULL;
	}
	counts->nr_cpus = nr_cpus;
	counts->nr_threads = nr_threads;
	counts->offline = (bool *)&counts->values[nr];
	return counts;
}

int counts__widen(struct counts **counts, int nr_threads)
{
	struct counts *old = *counts, *wide = counts__new(old->nr_cpus, nr_threads);

	if (!wide)
		return -ENOMEM;
	for (int cpu = 0; cpu < old->nr_cpus; cpu++) {
		wide->offline[cpu] = old->offline[cpu];
		memcpy(counts__at(wide, cpu, 0), counts__at(old, cpu, 0),
		       old->nr_threads * sizeof(old->values[0]));
	}
	free(old);
	*counts = wide;
	return 0;
}

uint64_t counts_values__scaled(const struct counts_values *values)
{
	if (!values->running_ns)
		return 0;
	if (values->running_ns >= values->enabled_ns)
		return values->value;
	return (unsigned __int128)values->value * values->enabled_ns / values->running_ns;
}

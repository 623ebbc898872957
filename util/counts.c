// SPDX-License-Identifier: GPL-2.0
#include "counts.h"

#include <errno.h>
#include <stdlib.h>

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

uint64_t counts_values__scaled(const struct counts_values *values)
{
	if (!values->run)
		return 0;
	if (values->run >= values->ena)
		return values->val;
	return (unsigned __int128)values->val * values->ena / values->run;
}

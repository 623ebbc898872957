/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_DATA_HEADER_WRITE_H
#define PERF_DATA_HEADER_WRITE_H

/* The features in the header of perf.data, written: the machine and the run. */

#include "util/data/format.h"
#include "util/lib/byte_buffer.h"

struct evlist;
struct pmus;

/* The subjects that the features describe; borrowed. */
struct header_source {
	const struct evlist *evlist;
	const struct data_attr *attrs; /* of the events, in their order */
	struct pmus *pmus;
	int argc; /* of the command line, without the program's name */
	char *const *argv;
	const char *sysfs; /* root of sysfs */
};

/**
 * header_write__fill() - describe this machine and this run
 * @features: by number; cleared by header_write__clear()
 *
 * Omits what the machine does not provide. Return: 0 or -ENOMEM.
 */
int header_write__fill(struct byte_buffer features[NR_FEATURES],
		       const struct header_source *source);
void header_write__clear(struct byte_buffer features[NR_FEATURES]);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SAMPLE_SAMPLE_SINGLES_H
#define PERF_SAMPLE_SAMPLE_SINGLES_H

/* The records of single samples of a session, by the row that their samples are counted in. */

#include "bpf_skel/sample.h"
#include "util/sample/sample_types.h"

#include <stdint.h>

struct sample_singles {
	int fd; /* -1: none, and the rest is not used */
	int nr_cpus;
	uint32_t size;			     /* of a half of a CPU */
	const struct sample_record *records; /* mapped: two halves for each CPU */
	struct sample_record *copy;
	/* The singles taken last, row by row. */
	struct sample_single *taken;
	uint32_t first[SAMPLE_ROWS + 1];
};

/** sample_singles__bytes() - the memory that room for so many on each CPU takes in the kernel */
uint64_t sample_singles__bytes(int nr_cpus, uint32_t size);

/** sample_singles__open() - make room for so many on each CPU. Return: 0 or -errno; close in any case */
int sample_singles__open(struct sample_singles *singles, int nr_cpus, uint32_t size);

/** sample_singles__take() - take the records out of the half of a CPU that is still */
void sample_singles__take(struct sample_singles *singles, struct sample_table *table, int cpu);

/**
 * sample_singles__get() - the records of a row, until the next are taken
 * @nr_row: number of the row
 * @row: what it has; records of more than that are none
 * @nr: how many
 *
 * Return: the records; NULL: there are none.
 */
const struct sample_single *sample_singles__get(const struct sample_singles *singles, int nr_row,
						const struct sample_row *row, uint32_t *nr);
void sample_singles__close(struct sample_singles *singles);

#endif

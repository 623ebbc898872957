// SPDX-License-Identifier: GPL-2.0
#include "util/sample/sample_singles.h"

#include "util/host/bpf_info.h"
#include "util/lib/util.h"
#include "util/sample/sample_object.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

uint64_t sample_singles__bytes(int nr_cpus, uint32_t size)
{
	return bpf_info__page_up(2ULL * nr_cpus * size * sizeof(struct sample_record));
}

static size_t bytes(const struct sample_singles *singles)
{
	return sample_singles__bytes(singles->nr_cpus, singles->size);
}

int sample_singles__open(struct sample_singles *singles, int nr_cpus, uint32_t size)
{
	singles->nr_cpus = nr_cpus;
	singles->size = size;
	singles->fd = sample_object__new_records(nr_cpus, size);
	if (singles->fd < 0)
		return singles->fd;
	singles->taken = calloc(size, sizeof(*singles->taken));
	singles->copy = calloc(size, sizeof(*singles->copy));
	if (!singles->taken || !singles->copy)
		return -ENOMEM;
	singles->records = bpf_info__map_memory(singles->fd, bytes(singles), PROT_READ);
	return singles->records ? 0 : -errno;
}

/* Sort the copy by row. The singles of a row stay in the order of their times. */
static void sort(struct sample_singles *singles, uint32_t nr)
{
	const struct sample_record *records = singles->copy;
	uint32_t *next = singles->first;

	memset(next, 0, sizeof(singles->first));
	for (uint32_t i = 0; i < nr; i++)
		next[records[i].row % SAMPLE_ROWS + 1]++;
	for (int row = 0; row < SAMPLE_ROWS; row++)
		next[row + 1] += next[row];
	for (uint32_t i = 0; i < nr; i++)
		singles->taken[next[records[i].row % SAMPLE_ROWS]++] =
			(struct sample_single){records[i].time_ns, records[i].weight};
	/* Each is now where the next row begins. */
	memmove(next + 1, next, SAMPLE_ROWS * sizeof(*next));
	next[0] = 0;
}

void sample_singles__take(struct sample_singles *singles, struct sample_table *table, int cpu)
{
	int half = !(table->half & 1);
	uint32_t nr;

	if (singles->fd < 0)
		return;
	nr = __atomic_load_n(&table->nr_records[half], __ATOMIC_RELAXED);
	nr = nr < singles->size ? nr : singles->size;
	/* Nobody changes a copy while it is sorted. */
	memcpy(singles->copy, singles->records + (2ULL * cpu + half) * singles->size,
	       nr * sizeof(*singles->copy));
	sort(singles, nr);
	table->nr_records[half] = 0;
}

/* Both are in memory that others can write. */
static bool are_in(const struct sample_row *row, const struct sample_single *singles, uint32_t nr)
{
	uint64_t left = row->weight;

	for (uint32_t i = 0; i < nr; i++) {
		if (singles[i].weight > left)
			return false;
		left -= singles[i].weight;
	}
	return nr <= row->nr;
}

const struct sample_single *sample_singles__get(const struct sample_singles *singles, int nr_row,
						const struct sample_row *row, uint32_t *nr)
{
	const struct sample_single *first;

	*nr = singles->fd < 0 ? 0 : singles->first[nr_row + 1] - singles->first[nr_row];
	if (!*nr)
		return NULL;
	first = &singles->taken[singles->first[nr_row]];
	if (are_in(row, first, *nr))
		return first;
	*nr = 0;
	return NULL;
}

void sample_singles__close(struct sample_singles *singles)
{
	if (singles->records)
		munmap((void *)singles->records, bytes(singles));
	free(singles->taken);
	free(singles->copy);
	close_fd(&singles->fd);
}

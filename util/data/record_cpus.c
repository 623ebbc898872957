// SPDX-License-Identifier: GPL-2.0
#include "util/data/record_cpus.h"

#include "util/data/format.h"
#include "util/host/cpumap.h"
#include "util/lib/byte_buffer.h"
#include "util/lib/util.h"

#include <errno.h>
#include <stdlib.h>

static int compare_cpus(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Return: the CPUs sorted, each once; NULL with errno EINVAL or ENOMEM. */
static struct cpumap *make_cpus(int *cpus, int nr)
{
	int kept = 0;

	qsort(cpus, nr, sizeof(*cpus), compare_cpus);
	for (int i = 0; i < nr; i++) {
		if (!kept || cpus[kept - 1] != cpus[i])
			cpus[kept++] = cpus[i];
	}
	if (kept && cpus[kept - 1] >= RECORD_MAX_CPUS)
		kept = 0;
	/* Counts of tasks have only "any". */
	if (kept && cpus[0] < 0)
		return cpumap__dup(cpumap__any());
	if (!kept) {
		errno = EINVAL;
		return NULL;
	}
	return cpumap__new(cpus, kept);
}

static struct cpumap *read_mask(struct byte_reader *r)
{
	uint16_t nr = byte_reader__u16(r), bytes = byte_reader__u16(r);
	int *cpus __cleanup(free_ptr) = NULL;
	int nr_cpus = 0;

	if (bytes == 8)
		byte_reader__skip(r, 4);
	if ((bytes != 4 && bytes != 8) || r->left / bytes < nr) {
		errno = EINVAL;
		return NULL;
	}
	cpus = malloc((nr * bytes * 8 + 1) * sizeof(*cpus));
	for (int i = 0; cpus && i < nr; i++) {
		uint64_t word = bytes == 8 ? byte_reader__u64(r) : byte_reader__u32(r);

		for (int bit = 0; bit < bytes * 8; bit++) {
			if (word >> bit & 1)
				cpus[nr_cpus++] = i * bytes * 8 + bit;
		}
	}
	return cpus ? make_cpus(cpus, nr_cpus) : NULL;
}

struct cpumap *record_cpus__read(struct byte_reader *r)
{
	uint16_t kind = byte_reader__u16(r), first, last;
	int nr;
	int *cpus __cleanup(free_ptr) = NULL;
	uint8_t flags[2];

	errno = EINVAL;
	if (kind == CPUS_MASK)
		return read_mask(r);
	if (kind == CPUS_RANGE) {
		byte_reader__get(r, flags, sizeof(flags));
		first = byte_reader__u16(r);
		last = byte_reader__u16(r);
		if (r->is_short || first > last || last >= RECORD_MAX_CPUS)
			return NULL;
		nr = last - first + 1;
		cpus = malloc((nr + 2) * sizeof(*cpus));
		for (int i = 0; cpus && i < nr; i++)
			cpus[i] = first + i;
		/* "any" beside CPUs is for tool events. */
		return cpus ? make_cpus(cpus, nr) : NULL;
	}
	nr = byte_reader__u16(r);
	if (kind != CPUS_LIST || r->is_short || (int)(r->left / sizeof(uint16_t)) < nr)
		return NULL;
	cpus = malloc((nr + 1) * sizeof(*cpus));
	for (int i = 0; cpus && i < nr; i++) {
		uint16_t cpu = byte_reader__u16(r);

		cpus[i] = cpu == UINT16_MAX ? -1 : cpu;
	}
	return cpus ? make_cpus(cpus, nr) : NULL;
}

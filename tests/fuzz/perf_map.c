// SPDX-License-Identifier: GPL-2.0
/* Any text lists functions that can be found, or none. | stands for a line break. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/symbol/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct perf_map *map, int i)
{
	const struct latest_part *part = &map->functions.parts[i];
	const struct latest_range *range = &map->functions.ranges[part->range];
	uint64_t offset;
	const char *name = perf_map__find(map, part->start, &offset);

	assert(part->start < part->end && range->start <= part->start && part->end <= range->end);
	assert(!i || part[-1].end <= part->start);
	assert(name && !strchr(name, '\n') && offset == part->start - range->start);
	/* A later line has no address of the part. */
	for (int later = part->range + 1; later < map->functions.nr; later++) {
		const struct latest_range *other = &map->functions.ranges[later];

		assert(other->end <= part->start || part->end <= other->start);
	}
}

/* A file gives the same functions as its text. */
static void check_file(const char *text, size_t size, const struct perf_map *map)
{
	int fd = memfd_create("perf.map", MFD_CLOEXEC);
	struct perf_map again = {};

	assert(fd >= 0 && write(fd, text, size) == (ssize_t)size);
	assert(!perf_map__read(fd, &again));
	assert(again.functions.nr_parts == map->functions.nr_parts);
	for (int i = 0; i < again.functions.nr_parts; i++)
		assert(again.functions.parts[i].start == map->functions.parts[i].start &&
		       again.functions.parts[i].end == map->functions.parts[i].end);
	perf_map__clear(&again);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_map map = {};
	char *text = malloc(size + 1);

	assert(text);
	for (size_t i = 0; i < size; i++)
		text[i] = data[i] == '|' ? '\n' : (char)data[i];
	/* Without a NUL: the parser gets the length. */
	text = realloc(text, size ? size : 1);
	assert(text);
	assert(!perf_map__parse(text, size, &map));
	for (int i = 0; i < map.functions.nr_parts; i++)
		check(&map, i);
	check_file(text, size, &map);
	perf_map__clear(&map);
	free(text);
	return 0;
}

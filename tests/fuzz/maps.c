// SPDX-License-Identifier: GPL-2.0
/*
 * Any text gives mappings in order and without overlaps. | stands for a line break. A line that begins with
 * a blank is mapped in a copy, as by a child.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/symbol/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct maps *maps)
{
	const struct map_range *last = NULL;

	for (int i = 0; i < maps->nr; last = &maps->ranges[i++]) {
		const struct map_range *range = &maps->ranges[i];

		assert(range->start < range->end && (!last || last->end <= range->start));
		assert(maps__find(maps, range->start) == range);
		assert(maps__find(maps, range->end - 1) == range);
		if (!last || last->end < range->start)
			assert(!maps__find(maps, range->start - 1) || !range->start);
	}
}

static uint64_t nr_bytes(const struct maps *maps)
{
	uint64_t nr = 0;

	for (int i = 0; i < maps->nr; i++)
		nr += maps->ranges[i].end - maps->ranges[i].start;
	return nr;
}

/* A copy changes, and the maps that it shares stay as they are. */
static void map_in_copy(struct maps *maps, const struct map_range *range)
{
	uint64_t before = nr_bytes(maps);
	struct maps *copy = maps__get(maps);

	assert(!maps__insert(&copy, range));
	check(copy);
	assert(nr_bytes(maps) == before);
	maps__put(copy);
}

static void map_line(struct maps **maps, const struct map_line *line, bool is_copied)
{
	const struct map_range range = {line->start, line->end, line->offset,
					(int)(line->inode % 100) - 1};
	const struct map_range *found;

	if (is_copied) {
		map_in_copy(*maps, &range);
		return;
	}
	assert(!maps__insert(maps, &range));
	if (range.start >= range.end)
		return;
	found = maps__find(*maps, range.start);
	if (range.image < 0)
		assert(!found && !maps__find(*maps, range.end - 1));
	else
		assert(found && found->start == range.start && found->end == range.end &&
		       found->image == range.image && found->offset == range.offset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct maps *maps = maps__new();
	const char *at = text, *next;

	assert(text && maps);
	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < size; i++)
		text[i] = text[i] == '|' ? '\n' : text[i];
	for (; *at; at = next) {
		struct map_line line;
		bool is_line = map_line__parse(at, &line, &next);

		assert(next > at && next <= text + strlen(text));
		if (!is_line)
			continue;
		assert(line.path >= at && line.path + line.path_len <= next);
		assert(!memchr(line.path, '\n', line.path_len));
		map_line(&maps, &line, *at == ' ');
		check(maps);
	}
	maps__put(maps);
	free(text);
	return 0;
}

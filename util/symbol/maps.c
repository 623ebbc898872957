// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/maps.h"

#include "util/lib/sorted.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct maps *maps__new(void)
{
	struct maps *maps = calloc(1, sizeof(*maps));

	if (maps)
		*maps = (struct maps){.refs = 1, .jit_dump = -1};
	return maps;
}

struct maps *maps__get(struct maps *maps)
{
	maps->refs++;
	return maps;
}

void maps__put(struct maps *maps)
{
	if (!maps || --maps->refs)
		return;
	free(maps->ranges);
	free(maps);
}

/* Return: the position of the first mapping that ends behind an address. */
static int first_behind(const struct maps *maps, uint64_t address)
{
	return (int)array__nr_up_to(maps->ranges, maps->nr, end, address);
}

const struct map_range *maps__find(const struct maps *maps, uint64_t address)
{
	int at = first_behind(maps, address);

	return at < maps->nr && maps->ranges[at].start <= address ? &maps->ranges[at] : NULL;
}

static struct map_range cut_end(const struct map_range *range, uint64_t end)
{
	struct map_range part = *range;

	part.end = end;
	return part;
}

static struct map_range cut_start(const struct map_range *range, uint64_t start)
{
	struct map_range part = *range;

	part.offset += start - part.start;
	part.start = start;
	return part;
}

/* Return: mappings with @range, if it has a file, in the place of those it overlaps; NULL without memory. */
static struct map_range *with(const struct maps *maps, const struct map_range *range, int *nr)
{
	/* A mapping that is hit in its middle becomes two. */
	struct map_range *ranges = calloc(maps->nr + 2, sizeof(*ranges));
	bool is_in = range->image < 0;

	*nr = 0;
	for (int i = 0; ranges && i < maps->nr; i++) {
		const struct map_range *old = &maps->ranges[i];

		if (old->start < range->start)
			ranges[(*nr)++] =
				cut_end(old, old->end < range->start ? old->end : range->start);
		if (!is_in && old->end > range->start) {
			ranges[(*nr)++] = *range;
			is_in = true;
		}
		if (old->end > range->end)
			ranges[(*nr)++] =
				cut_start(old, old->start > range->end ? old->start : range->end);
	}
	if (ranges && !is_in)
		ranges[(*nr)++] = *range;
	return ranges;
}

/* The files of /proc list mappings in order, so most come behind all others. */
static int append(struct maps *maps, const struct map_range *range)
{
	if (maps->nr == maps->cap) {
		int cap = maps->cap ? 2 * maps->cap : 16;
		struct map_range *ranges = reallocarray(maps->ranges, cap, sizeof(*ranges));

		if (!ranges)
			return -ENOMEM;
		maps->ranges = ranges;
		maps->cap = cap;
	}
	maps->ranges[maps->nr++] = *range;
	return 0;
}

/* Compilers map memory often, and most of it where there was no file. */
static bool changes_nothing(const struct maps *maps, const struct map_range *range)
{
	int at = first_behind(maps, range->start);

	return range->image < 0 && (at == maps->nr || maps->ranges[at].start >= range->end);
}

int maps__insert(struct maps **maps, const struct map_range *range)
{
	struct map_range *ranges;
	int nr;

	if (range->start >= range->end || changes_nothing(*maps, range))
		return 0;
	if ((*maps)->refs == 1 &&
	    (!(*maps)->nr || (*maps)->ranges[(*maps)->nr - 1].end <= range->start))
		return append(*maps, range);
	ranges = with(*maps, range, &nr);
	if (!ranges)
		return -ENOMEM;
	if ((*maps)->refs > 1) {
		struct maps *own = maps__new();

		if (!own) {
			free(ranges);
			return -ENOMEM;
		}
		own->jit_dump = (*maps)->jit_dump;
		maps__put(*maps);
		*maps = own;
	}
	free((*maps)->ranges);
	(*maps)->ranges = ranges;
	(*maps)->nr = (*maps)->cap = nr;
	return 0;
}

/* Take a number and the character behind it, which is not a line break. Return: whether both are there. */
static bool take_number(const char **at, int base, char behind, uint64_t *number)
{
	char *end;

	/* strtoull() would also take blanks and a sign. */
	if (!isxdigit((unsigned char)**at))
		return false;
	*number = strtoull(*at, &end, base);
	if (end == *at || *end != behind)
		return false;
	*at = end + 1;
	return true;
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " ");
}

/* Not by sscanf(), which looks for the end of the whole text first. */
bool map_line__parse(const char *text, struct map_line *line, const char **next)
{
	static const char deleted[] = " (deleted)";
	const size_t tail = sizeof(deleted) - 1;
	const char *end = text + strcspn(text, "\n"), *at = text, *permissions;
	uint64_t major, minor;

	*line = (struct map_line){};
	*next = end + (*end == '\n');
	if (!take_number(&at, 16, '-', &line->start) || !take_number(&at, 16, ' ', &line->end))
		return false;
	permissions = at;
	at += strcspn(at, " \n");
	if (at - permissions != 4 || *at++ != ' ' || !take_number(&at, 16, ' ', &line->offset) ||
	    !take_number(&at, 16, ':', &major) || !take_number(&at, 16, ' ', &minor) ||
	    !take_number(&at, 10, ' ', &line->inode))
		return false;
	line->major = major;
	line->minor = minor;
	line->is_code = permissions[2] == 'x';
	line->path = skip_blanks(at);
	line->path_len = end - line->path;
	line->is_deleted = line->path_len > tail &&
			   !strncmp(line->path + line->path_len - tail, deleted, tail);
	if (line->is_deleted)
		line->path_len -= tail;
	return true;
}

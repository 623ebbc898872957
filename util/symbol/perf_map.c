// SPDX-License-Identifier: GPL-2.0
#include "util/symbol/perf_map.h"

#include "util/lib/util.h"
#include "util/symbol/life_sign.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	return at;
}

/* Read a hexadecimal number, also with "0x". Return: what is behind it and its blanks; NULL: none */
static const char *parse_hex(const char *at, const char *end, uint64_t *number)
{
	const char *first;

	if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	first = at;
	for (*number = 0; at < end; at++) {
		char c = *at | 0x20;

		if (*at >= '0' && *at <= '9')
			*number = *number << 4 | (*at - '0');
		else if (c >= 'a' && c <= 'f')
			*number = *number << 4 | (c - 'a' + 10);
		else
			break;
	}
	if (at == first || at == end || (*at != ' ' && *at != '\t'))
		return NULL;
	return skip_blanks(at, end);
}

/* Names are shorter than the text, so their positions fit. */
static_assert(PERF_MAP_MAX_BYTES <= INT_MAX, "an owner is an int");

static int add(struct perf_map *map, uint64_t start, uint64_t size, const char *name, size_t len)
{
	size_t at = map->names.len;

	byte_buffer__put(&map->names, name, len);
	byte_buffer__put(&map->names, "", 1);
	if (map->names.has_failed)
		return -ENOMEM;
	return latest_ranges__add(&map->functions, start, start + size, at);
}

int perf_map__parse(const char *text, size_t len, struct perf_map *map)
{
	const char *end = text + len, *next;
	int err = 0;

	for (const char *at = text; at < end && !err; at = next) {
		const char *line_end = memchr(at, '\n', end - at), *name;
		uint64_t start, size;

		life_sign__show();
		next = line_end ? line_end + 1 : end;
		if (!line_end)
			line_end = end;
		name = parse_hex(skip_blanks(at, line_end), line_end, &start);
		name = name ? parse_hex(name, line_end, &size) : NULL;
		if (name && name < line_end && start)
			err = add(map, start, size, name, line_end - name);
	}
	return err ? err : latest_ranges__sort(&map->functions);
}

int perf_map__read(int fd, struct perf_map *map)
{
	char *text __cleanup(free_ptr) = NULL;
	struct stat st;
	ssize_t len;

	if (fstat(fd, &st))
		return -errno;
	if ((unsigned long)st.st_size > PERF_MAP_MAX_BYTES)
		return -EFBIG;
	text = malloc(st.st_size + 1);
	if (!text)
		return -ENOMEM;
	len = read_up_to(fd, text, st.st_size, 0);
	return len < 0 ? len : perf_map__parse(text, len, map);
}

const char *perf_map__find(const struct perf_map *map, uint64_t address, uint64_t *offset)
{
	const struct latest_part *part = latest_ranges__find(&map->functions, address);
	const struct latest_range *function = part ? &map->functions.ranges[part->range] : NULL;

	if (!function)
		return NULL;
	*offset = address - function->start;
	return map->names.data + function->owner;
}

void perf_map__clear(struct perf_map *map)
{
	byte_buffer__clear(&map->names);
	latest_ranges__clear(&map->functions);
}

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_MAPS_H
#define PERF_SYMBOL_MAPS_H

/* The executable mappings of a process at one time. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_range {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	int image; /* number of the file; the owner of the maps gives it a meaning. -1: none */
};

/* Only mappings with a file, sorted, without overlaps. Shared by processes after a fork. */
struct maps {
	int refs;
	int nr, cap;
	struct map_range *ranges;
	int jit_dump; /* image of the list of a JIT compiler; -1: none. The owner sets it. */
};

/** maps__new() - without mappings; NULL with errno ENOMEM */
struct maps *maps__new(void);

/** maps__get(), maps__put() - share; the last put frees. maps__put(NULL) does nothing */
struct maps *maps__get(struct maps *maps);
void maps__put(struct maps *maps);

/**
 * maps__insert() - add a mapping, which replaces what it overlaps
 * @maps: replaced by a copy if it is shared and changes
 * @range: without a file it is not kept
 *
 * Return: 0 or -ENOMEM.
 */
int maps__insert(struct maps **maps, const struct map_range *range);

/** maps__find() - the mapping of an address, borrowed; NULL: none */
const struct map_range *maps__find(const struct maps *maps, uint64_t address);

/* A line of /proc/PID/maps. */
struct map_line {
	uint64_t start, end, offset;
	uint32_t major, minor;
	uint64_t inode;
	bool is_code;
	bool is_deleted;
	const char *path; /* in the text; empty: anonymous */
	size_t path_len;  /* without " (deleted)" */
};

/**
 * map_line__parse() - read the first line of a text
 * @next: receives the beginning of the next line
 *
 * Reads nothing behind the line, so a text of many lines takes linear time.
 * Return: false if the line has another form.
 */
bool map_line__parse(const char *text, struct map_line *line, const char **next);

#endif

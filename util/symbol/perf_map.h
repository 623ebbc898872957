/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_PERF_MAP_H
#define PERF_SYMBOL_PERF_MAP_H

/* The functions that a JIT compiler lists in /tmp/perf-PID.map. */

#include "util/lib/byte_buffer.h"
#include "util/symbol/latest_ranges.h"

#include <stddef.h>
#include <stdint.h>

/* All zero: empty. */
struct perf_map {
	struct byte_buffer names;	/* one behind the other */
	struct latest_ranges functions; /* owner: position of the name */
};

/**
 * perf_map__parse() - read the functions of a text
 * @text: lines "START SIZE NAME" with hexadecimal numbers; the name may have blanks
 * @map: is empty
 *
 * A later line replaces what it overlaps of earlier ones: compilers append code that they compiled again. Skips
 * other lines. Return: 0 or -ENOMEM.
 */
int perf_map__parse(const char *text, size_t len, struct perf_map *map);

/**
 * perf_map__read() - the same from a file
 *
 * Return: 0; -EFBIG: larger than PERF_MAP_MAX_BYTES; other -errno.
 */
#define PERF_MAP_MAX_BYTES (1UL << 30)
int perf_map__read(int fd, struct perf_map *map);

/**
 * perf_map__find() - the name of the function at an address, borrowed; NULL: there is none
 * @offset: receives the address's offset in the function
 */
const char *perf_map__find(const struct perf_map *map, uint64_t address, uint64_t *offset);

void perf_map__clear(struct perf_map *map);

#endif

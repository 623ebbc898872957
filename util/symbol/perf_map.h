/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_PERF_MAP_H
#define PERF_SYMBOL_PERF_MAP_H

/* The functions that a JIT compiler lists in /tmp/perf-PID.map. */

#include <stddef.h>

struct symbol_table;

/**
 * perf_map__parse() - add the functions of a text
 * @text: lines "START SIZE NAME" with hexadecimal numbers; the name may have blanks
 *
 * A later line replaces an earlier one with the same start: compilers append code that they compiled
 * again. Skips other lines. The caller sorts the table.
 */
void perf_map__parse(const char *text, size_t len, struct symbol_table *table);

/**
 * perf_map__add() - the same from a file
 *
 * Return: 0; -EFBIG: larger than PERF_MAP_MAX_BYTES; other -errno.
 */
#define PERF_MAP_MAX_BYTES (1UL << 30)
int perf_map__add(int fd, struct symbol_table *table);

#endif

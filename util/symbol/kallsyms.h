/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_KALLSYMS_H
#define PERF_SYMBOL_KALLSYMS_H

/* The functions of the kernel, of its modules and of BPF programs, from /proc/kallsyms. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_table;

/**
 * kallsyms__parse() - add the symbols of a text
 * @text: lines "ADDRESS TYPE NAME[ \t[MODULE]]", as the kernel prints them; @len bytes
 * @table: receives the symbols; owners are modules, with their brackets
 *
 * Skips other lines, and symbols whose address is hidden (0). Call symbol_table__sort() afterwards.
 * Return: true if the text has functions and the addresses of all are hidden.
 */
bool kallsyms__parse(const char *text, size_t len, struct symbol_table *table);

/**
 * kallsyms__read() - the same from PROCFS/kallsyms, sorted
 * @is_hidden: receives whether kernel.kptr_restrict hides the addresses
 *
 * Reads it again if BPF programs that are loaded are missing: programs that go meanwhile shift those behind them.
 * Return: 0 or -errno, without a message.
 */
int kallsyms__read(struct symbol_table *table, bool *is_hidden);

/**
 * kallsyms__text() - the range of the kernel's own code
 * @start: receives the address of _text; 0: hidden, or not known
 * @end: of _etext
 */
void kallsyms__text(uint64_t *start, uint64_t *end);

#endif

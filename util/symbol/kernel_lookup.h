/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_KERNEL_LOOKUP_H
#define PERF_SYMBOL_KERNEL_LOOKUP_H

/* The functions of single addresses in the kernel, for which a BPF program asks it. */

#include <stddef.h>
#include <stdint.h>

struct symbol_table;

/**
 * kernel_lookup__add() - add the functions that have some addresses
 * @addresses: @nr of them; neighbours may be of one function
 * @table: receives those that the kernel knows, of itself, of modules and of BPF programs. Owners are modules, with
 *	their brackets. Call symbol_table__sort() afterwards
 *
 * The program is loaded for this call only. An address takes about 3,000 instructions, and all of /proc/kallsyms more
 * than 300 million.
 *
 * Return: 0 or -errno, without a message: BPF is not available, or there is no memory.
 */
int kernel_lookup__add(struct symbol_table *table, const uint64_t *addresses, int nr);

/** kernel_lookup__parse() - add the function that an answer of the kernel names, if it names one */
void kernel_lookup__parse(struct symbol_table *table, uint64_t address, const char *text);

#endif

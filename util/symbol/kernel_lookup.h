/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_KERNEL_LOOKUP_H
#define PERF_SYMBOL_KERNEL_LOOKUP_H

/* The functions of single addresses in the kernel, for which a BPF program asks it. */

#include <stdint.h>

struct kernel_lookup;
struct symbol_table;

/**
 * kernel_lookup__new() - load the program
 *
 * Call it before what has the addresses may go: otherwise the program itself could get the memory of one.
 * Return: owned by the caller; NULL with errno: BPF is not available, or there is no memory.
 */
struct kernel_lookup *kernel_lookup__new(void);
void kernel_lookup__delete(struct kernel_lookup *lookup);

/**
 * kernel_lookup__add() - add the functions that have some addresses
 * @table: receives those that the kernel knows, of itself, of modules and of BPF programs. Owners are modules, with
 *	their brackets. Call symbol_table__sort() afterwards
 * @addresses: @nr of them. Neighbours in one function cost one question: 6,000 instructions. In a module the kernel
 *	looks at all symbols of the module (300,000 instructions in xfs, which has 12,671)
 * @limit_ns: ask no more after this time; 0: no limit
 *
 * Return: 0; -ETIME: @limit_ns has passed; other -errno. Without a message.
 */
int kernel_lookup__add(struct kernel_lookup *lookup, struct symbol_table *table,
		       const uint64_t *addresses, int nr, uint64_t limit_ns);

/** kernel_lookup__parse() - add the function that an answer of the kernel names, if it names one; @text is cut up */
void kernel_lookup__parse(struct symbol_table *table, uint64_t address, char *text);

#endif

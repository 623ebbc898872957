/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_KERNEL_NAMES_H
#define PERF_SYMBOL_KERNEL_NAMES_H

/* The names of places in the kernel, from its own list of symbols. */

#include "util/symbol/symbol_table.h"

#include <stdbool.h>

struct place_table;

/* All zero: empty. */
struct kernel_names {
	struct symbol_table table;
	bool is_hidden;
	bool has_warned; /* of that */
	int err;	 /* of reading it; 0: none, or the user was told */
	int nr_read_again;
};

/** kernel_names__read() - read the symbols; kernel_names__resolve() warns if that fails */
void kernel_names__read(struct kernel_names *names);
void kernel_names__clear(struct kernel_names *names);

/* In messages about functions that are hidden: what to do. */
#define KERNEL_NAMES_REMEDY                                                                        \
	"run as root, or set kernel.kptr_restrict=0 and kernel.perf_event_paranoid=1"

/**
 * kernel_names__resolve() - find the names of places in the kernel
 *
 * Warns once if the kernel hides its symbols. Places without a symbol stay without a name.
 * Return: 0 or -ENOMEM.
 */
int kernel_names__resolve(struct kernel_names *names, struct place_table *places,
			  const int *numbers, int nr);

#endif

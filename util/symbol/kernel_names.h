/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_KERNEL_NAMES_H
#define PERF_SYMBOL_KERNEL_NAMES_H

/*
 * The names of places in the kernel. A BPF program asks it for those that were sampled. Where that is not possible,
 * and where functions are looked for by their names, its list of all symbols is read.
 */

#include "util/symbol/symbol_table.h"

#include <stdbool.h>

struct kernel_lookup;
struct place_table;

/* All zero: empty. */
struct kernel_names {
	struct symbol_table table;
	struct kernel_lookup *lookup; /* NULL: the kernel cannot be asked by BPF */
	uint64_t ask_ns;	      /* after that time the list is read instead */
	bool is_whole;		      /* the list was read */
	bool is_hidden;
	bool has_warned; /* of that */
	int err;	 /* of reading it; 0: none, or the user was told */
	int nr_read_again;
};

/**
 * kernel_names__begin() - get ready to ask, and note functions of BPF programs, which may be gone later
 * @may_use_bpf: otherwise, or if BPF is not available, the list is read now
 *
 * kernel_names__resolve() warns if reading the list fails.
 */
void kernel_names__begin(struct kernel_names *names, bool may_use_bpf);

/** kernel_names__read() - read the list, unless that was done */
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

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_SYMBOL_RANGES_H
#define PERF_SYMBOL_SYMBOL_RANGES_H

/* The addresses that functions, modules and files have in memory, by name. */

#include <sys/types.h>

struct address_ranges;
struct symbols;

/**
 * symbol_ranges__kernel() - add a function of the kernel, or all functions of a module
 *
 * Functions of the same name are added all. Return: how many, or -ENOMEM.
 */
int symbol_ranges__kernel(struct symbols *symbols, const char *name, struct address_ranges *ranges);

/* Code of processes to look for. */
struct process_code {
	const pid_t *pids;
	int nr_pids;
	const char *file;     /* path, or its last part; NULL: all files */
	const char *function; /* NULL: all code of the file */
};

/**
 * symbol_ranges__processes() - add the code that processes have mapped now
 *
 * The confined process reads the files. Processes that have ended have no code. Return: how many ranges, or
 * -ENOMEM.
 */
int symbol_ranges__processes(struct symbols *symbols, const struct process_code *wanted,
			     struct address_ranges *ranges);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_JIT_DUMP_H
#define PERF_SYMBOL_JIT_DUMP_H

/*
 * The functions that a JIT compiler lists in jit-PID.dump, with their source lines.
 *
 * The compiler appends records while its program runs, and maps the file as executable to show where it is.
 */

#include "util/lib/byte_buffer.h"
#include "util/symbol/latest_ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: empty. */
struct jit_dump {
	struct byte_buffer texts; /* one behind the other; the first is empty */
	struct jit_function *functions;
	struct latest_ranges loads; /* owner: the position of a function */
	struct jit_line *lines;
	int nr_functions, nr_lines;
};

/** jit_dump__is_name() - whether a path is that of such a file */
bool jit_dump__is_name(const char *path, size_t len);

/**
 * jit_dump__read() - read all complete records of a file
 * @dump: is empty
 *
 * Where functions overlap, the later record counts. Reading ends at a record that is incomplete
 * or has no valid size.
 * Return: 0; -ENOEXEC: another format, or that of another byte order; -ENOMEM; other -errno of pread().
 */
int jit_dump__read(int fd, struct jit_dump *dump);

/* A function at an address. The texts are borrowed. */
struct jit_place {
	const char *name;
	uint64_t offset;  /* of the address in the function */
	const char *file; /* of the source; empty: unknown */
	uint32_t line;	  /* in it; 0: unknown */
};

/** jit_dump__find() - describe the function at an address; false: there is none */
bool jit_dump__find(const struct jit_dump *dump, uint64_t address, struct jit_place *place);

/* jit_code_fn - gets a range of addresses that begins with a function, and the position of its code in the file */
typedef void (*jit_code_fn)(void *ctx, uint64_t start, uint64_t end, uint64_t code);

/** jit_dump__find_name() - find the functions of a name that are still there at the end, and whose code is in the file */
void jit_dump__find_name(const struct jit_dump *dump, const char *name, jit_code_fn fn, void *ctx);

/**
 * jit_dump__put() - append records of the function at an address, as the file of another dump has them
 * @fd: the file that was read
 * @end: receives where the function ends; it stays if there is none
 *
 * Appends nothing if the function's begin or code is not there any more, or if it is longer than 4 MiB.
 * Return: 0 or -ENOMEM.
 */
int jit_dump__put(const struct jit_dump *dump, int fd, uint64_t address, uint64_t *end,
		  struct byte_buffer *out);

void jit_dump__clear(struct jit_dump *dump);

#endif

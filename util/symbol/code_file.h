/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_CODE_FILE_H
#define PERF_SYMBOL_CODE_FILE_H

/* The machine code of one function as an ELF file of its own, for tools that would have to parse a foreign file. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code {
	const void *bytes;
	size_t len;
	uint64_t address; /* of the first byte */
	uint16_t machine; /* EM_* */
	bool is_64bit;
};

/* The symbol of the code. */
#define CODE_FILE_SYMBOL "f"

/** code_file__native() - the machine of this program's own code, EM_* */
uint16_t code_file__native(void);

/**
 * code_file__make() - write code into an ELF file in memory
 *
 * The byte order is that of this machine. Return: a descriptor, owned by the caller, or -errno.
 */
int code_file__make(const struct code *code);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_ELF_SYMBOLS_H
#define PERF_SYMBOL_ELF_SYMBOLS_H

/* The functions of an ELF file. Only the confined process calls this: files may be hostile. */

#include "util/symbol/build_id.h"

#include <stdbool.h>
#include <stdint.h>

struct symbol_table;

/* The loaded parts of a file. */
struct elf_segment {
	uint64_t offset, size; /* in the file */
	uint64_t address;      /* of its first byte, as symbols have it */
	bool is_code;
};

struct elf_segments {
	struct elf_segment *segments;
	int nr;
};

/**
 * elf_symbols__describe() - read the build id
 * @has_symtab: receives whether the file has a full symbol table
 *
 * Return: 0; -ENOEXEC: the file is no readable ELF file; -ENOMEM.
 */
int elf_symbols__describe(int fd, struct build_id *id, bool *has_symtab);

/**
 * elf_symbols__add() - add the functions of .symtab and .dynsym; values are addresses of the file
 * @table: to be sorted by the caller
 *
 * Return: 0; -ENOEXEC; -ENOMEM.
 */
int elf_symbols__add(int fd, struct symbol_table *table);

/** elf_symbols__segments() - the loaded parts; free() releases @segments. Return: 0; -ENOEXEC; -ENOMEM */
int elf_symbols__segments(int fd, struct elf_segments *segments);

/**
 * elf_segments__address() - turn a position in the file into an address of the file
 *
 * Return: false if nothing is loaded from there.
 */
bool elf_segments__address(const struct elf_segments *segments, uint64_t offset, uint64_t *address);

/** elf_segments__offset() - the reverse; false if the address is not loaded from the file */
bool elf_segments__offset(const struct elf_segments *segments, uint64_t address, uint64_t *offset);

#endif

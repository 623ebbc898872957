/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_ELF_SYMBOLS_H
#define PERF_SYMBOL_ELF_SYMBOLS_H

/* The functions of an ELF file. Only the confined process calls this: files may be hostile. */

#include "util/symbol/elf_description.h"

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
	int nr_moved; /* of a debug file: their offsets are in the mapping */
};

/**
 * elf_symbols__describe() - read the build id, the debug link, and which sections there are
 *
 * Return: 0; -ENOEXEC: the file is no readable ELF file.
 */
int elf_symbols__describe(int fd, struct elf_description *file);

/**
 * elf_symbols__is_debug_file() - whether another file has the debug information of a file
 *
 * The build ids decide. Without them, the checksum in the debug link does, so all of @debug_fd is read.
 */
bool elf_symbols__is_debug_file(int fd, int debug_fd);

/**
 * elf_symbols__add() - add the functions of .symtab, .dynsym and .gnu_debugdata; values are addresses of the file
 * @table: to be sorted by the caller
 *
 * Return: 0; -ENOEXEC; -ENOMEM.
 */
int elf_symbols__add(int fd, struct symbol_table *table);

/**
 * elf_symbols__segments() - the loaded parts
 *
 * A debug file has no code. There the segment with the code begins at offset 0, as its mapping does.
 * If it has several, none of them has a size.
 * Return: 0; -ENOEXEC; -ENOMEM. free() releases @segments.
 */
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

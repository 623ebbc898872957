/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_DISASSEMBLER_H
#define PERF_SYMBOL_DISASSEMBLER_H

/*
 * Machine code as text, by objdump of binutils or llvm-objdump.
 *
 * The tool never sees a foreign file: it gets an ELF file that has nothing but the code of one function. It
 * runs confined (tool_process.h), and its output is only believed where it is about that code.
 */

#include "util/lib/byte_buffer.h"
#include "util/symbol/code_file.h"

#include <stdbool.h>
#include <stdint.h>

/* Longer functions are refused. */
#define DISASSEMBLER_MAX_BYTES (4 << 20)

struct instruction {
	uint64_t address;
	uint32_t text;	 /* position in the texts */
	uint64_t target; /* an address outside of the code that it names; 0: none */
};

/* All zero: empty. In the order of their addresses. */
struct instructions {
	struct instruction *list;
	int nr;
	struct byte_buffer texts;
};

/** disassembler__is_there() - whether there is a tool */
bool disassembler__is_there(void);

/**
 * disassembler__read() - split code into instructions
 *
 * The addresses of BPF instructions are their numbers. Only LLVM knows them.
 *
 * Return: 0; -ENOENT: there is no tool; -EOPNOTSUPP: the tools that are there do not know the machine; -E2BIG;
 * other -errno, also of tool_process__run(). Released by instructions__clear() in any case.
 */
int disassembler__read(const struct code *code, struct instructions *instructions);
void instructions__clear(struct instructions *instructions);

/** instructions__text() - the text of one, borrowed */
const char *instructions__text(const struct instructions *instructions, int nr);

/** instructions__find() - the instruction that has the byte at an address; -1: none */
int instructions__find(const struct instructions *instructions, uint64_t address);

#endif

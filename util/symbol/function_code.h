/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_FUNCTION_CODE_H
#define PERF_SYMBOL_FUNCTION_CODE_H

/* The instructions of one function, with the source line of each. */

#include "util/lib/blob_set.h"
#include "util/symbol/disassembler.h"

#include <stdint.h>

struct symbol_process;
struct symbol_table;
struct symbols;

/* The texts are numbers for function_code__text(); -1: none. */
struct instruction_note {
	int file;    /* of the source */
	int line;    /* in it */
	int text;    /* of that line, if the program has it */
	int inlined; /* the function that is inlined here */
	int target;  /* the function that the instruction calls */
	int bpf,
		nr_bpf; /* the BPF instructions that it is made from, with others of the same line; 0: none */
};

/* All zero: empty. */
struct function_code {
	struct instructions instructions;
	struct instruction_note *notes; /* of each instruction */
	struct instructions bpf; /* of a BPF program: those before the kernel translated them */
	struct blob_set texts;
};

/* A function. */
struct function_place {
	uint64_t start, end; /* in its image, as places have them, without the end */
	uint64_t address;    /* of the start, as in the symbol table */
	uint64_t code;	     /* of a JIT compiler: position of the code in its jitdump */
	int image;	     /* its number in symbols */
};

/**
 * function_code__read_file() - read a function of an ELF file
 *
 * Return: 0; as disassembler__read(); as symbols__open(); other -errno. Released by function_code__clear() in any case.
 */
int function_code__read_file(struct function_code *code, struct symbols *symbols,
			     const struct function_place *place);

/**
 * function_code__read_jit() - read a function of a JIT compiler from its jitdump
 *
 * Return: as above.
 */
int function_code__read_jit(struct function_code *code, struct symbols *symbols,
			    const struct function_place *place);

/**
 * function_code__read_bpf() - read a BPF program, or a function of one, by the address of its machine code
 *
 * @table: the kernel's functions, for the names of those that are called
 *
 * Return: as above; -ESRCH: it is not loaded any more; -EPERM: the kernel hides it.
 */
int function_code__read_bpf(struct function_code *code, const struct symbol_table *table,
			    const struct function_place *place);

/**
 * function_code__read_kernel() - read a function of the kernel from PROCFS/kcore, or from its file vmlinux
 * @reader: parses vmlinux, which also has the source lines; NULL: there is none
 *
 * Return: as above; -ENXIO: there is neither.
 */
int function_code__read_kernel(struct function_code *code, const struct symbol_table *table,
			       struct symbol_process *reader, const struct function_place *place);
void function_code__clear(struct function_code *code);

/** function_code__add_text() - keep a text. Return: its number; -1: it is empty; -ENOMEM */
int function_code__add_text(struct function_code *code, const char *text);

/** function_code__text() - a text by its number, borrowed; NULL for -1 */
const char *function_code__text(const struct function_code *code, int nr);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_BPF_CODE_H
#define PERF_SYMBOL_BPF_CODE_H

/* The machine code of a BPF program that is loaded, and its source lines by BTF. */

#include <stddef.h>
#include <stdint.h>

/* The code from an address on, up to the next line. The texts are those of the program's BTF. */
struct bpf_code_line {
	uint64_t address;
	const char *file, *text; /* borrowed */
	int line;
	uint32_t first, nr; /* of the program's BPF instructions that the code is made from */
};

struct bpf_code {
	void *bytes;
	size_t len;
	void *insns; /* the BPF instructions of the whole program, each of 8 bytes; NULL: hidden */
	uint32_t nr_insns;
	struct bpf_code_line *lines; /* sorted by address */
	int nr;
	struct btf *btf;
};

/**
 * bpf_code__read() - find the program that has a function at an address of the kernel
 *
 * Return: 0; -ESRCH: there is none; -EPERM: the kernel hides the code; other -errno. Released by
 * bpf_code__clear() in any case.
 */
int bpf_code__read(uint64_t address, struct bpf_code *code);
void bpf_code__clear(struct bpf_code *code);

/** bpf_code__line() - the line of an instruction, borrowed; NULL: unknown */
const struct bpf_code_line *bpf_code__line(const struct bpf_code *code, uint64_t address);

/**
 * bpf_code__prog_name() - the name of a program or of a function of one
 * @symbol: how the kernel lists it, as "bpf_prog_6deef7357e7b4530_name" with the program's tag
 *
 * Return: borrowed from @symbol; "": it has none; NULL: that is no such symbol.
 */
const char *bpf_code__prog_name(const char *symbol);

/**
 * bpf_code__functions() - the addresses of all functions of the programs that are loaded
 * @addresses: receives them, none if the kernel hides them; released by free() in any case
 *
 * Return: their number or -ENOMEM.
 */
int bpf_code__functions(uint64_t **addresses);

#endif

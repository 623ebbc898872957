/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_ELF_DESCRIPTION_H
#define PERF_SYMBOL_ELF_DESCRIPTION_H

/* The facts about an ELF file that tell which further file is needed. */

#include "util/symbol/build_id.h"

#include <stdint.h>

struct elf_description {
	struct build_id id;
	uint16_t machine; /* EM_* */
	uint16_t is_64bit;
	uint32_t has_symtab;  /* the full symbol table */
	uint32_t has_lines;   /* debug information */
	uint32_t has_no_code; /* a debug file: the code is elsewhere */
	uint32_t link_crc;    /* checksum of the debug file that debug_link names */
	char debug_link[256]; /* the name of the debug file, without a directory; empty: none */
	/* A file with debug information that several files share: its path and build id. */
	char alt_link[256];
	struct build_id alt_id;
};

#endif

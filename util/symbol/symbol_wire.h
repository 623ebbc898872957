/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_SYMBOL_WIRE_H
#define PERF_SYMBOL_SYMBOL_WIRE_H

/*
 * Messages between perf and the confined process that reads foreign files.
 *
 * Both ends are packets on a socketpair. A request carries descriptors: the file, perhaps the file with
 * its debug information, and perhaps one with debug information that it shares with others. It is answered by any number of packets, the last of which is
 * SYMBOL_REPLY_DONE or SYMBOL_REPLY_DIED. SYMBOL_REPLY_DIED comes from the parent of the confined process, after it died and
 * before the next one begins. perf trusts no answer: it checks every length.
 */

#include "util/symbol/elf_description.h"

#include <stdint.h>

#define SYMBOL_MAX_ADDRESSES 4096
#define SYMBOL_MAX_PACKET    (64 * 1024)
#define SYMBOL_MAX_NAME	     1024
#define SYMBOL_MAX_FDS	     3
#define SYMBOL_MAX_PLACES    65536	/* of functions of one name */
#define SYMBOL_MAX_BYTES     (64 << 20) /* of records; a program can list much code that it never had */

enum symbol_file_kind {
	SYMBOL_FILE_DESCRIBE, /* ELF: struct elf_description */
	SYMBOL_FILE_ELF,      /* addresses are positions in the file */
	SYMBOL_FILE_PERF_MAP, /* addresses are those of the process */
	SYMBOL_FILE_FIND,     /* ELF: the places of a function; its name is in place of addresses */
	SYMBOL_FILE_JIT_DUMP, /* addresses are those of the process */
	SYMBOL_FILE_JIT_LINES, /* the same file: source lines of addresses of the process */
	SYMBOL_FILE_JIT_FIND,  /* the same file: the places of a function, as SYMBOL_FILE_FIND */
	SYMBOL_FILE_JIT_CODE, /* the same file: records of the functions at ascending addresses of the process */
	SYMBOL_FILE_SPLIT, /* a file that SYMBOL_REPLY_SPLIT has named; its number is in place of addresses */
	SYMBOL_FILE_DWP, /* a package of such files: that of a unit, whose id is in place of addresses */
	SYMBOL_FILE_LINES, /* ELF: source lines and inlined functions of positions in the file */
};

struct symbol_request {
	uint32_t seq; /* comes back in the answer */
	uint32_t kind;
	uint32_t nr; /* addresses behind this struct, each 64 bits */
	uint32_t pad;
};

enum symbol_reply_kind {
	SYMBOL_REPLY_NAMES,  /* struct symbol_answer, each followed by its name */
	SYMBOL_REPLY_PLACES, /* struct symbol_place */
	SYMBOL_REPLY_FRAMES, /* struct symbol_frame, each followed by the name and the file */
	SYMBOL_REPLY_BYTES,  /* the next bytes of records, or of a file */
	SYMBOL_REPLY_SPLIT,  /* struct symbol_split, each followed by the path */
	SYMBOL_REPLY_UNIT, /* the id of a unit: the next that is read is its file with functions */
	SYMBOL_REPLY_BUSY, /* nothing yet, but the request is not forgotten */
	SYMBOL_REPLY_DONE,
	SYMBOL_REPLY_DIED,
};

struct symbol_reply {
	uint32_t seq;
	uint32_t kind;
	int32_t err; /* of SYMBOL_REPLY_DONE: 0 or -errno */
	/* Of SYMBOL_FILE_DESCRIBE: */
	uint32_t is_debug_file; /* the second file is that with the debug information */
	struct elf_description file;
};

/* A function, by positions in its file; of a JIT compiler, by addresses of the process. */
struct symbol_place {
	uint64_t start, end; /* without the end */
	uint64_t
		address; /* of the start, as in the symbol table; of a JIT compiler, the code's position in the file */
};

/*
 * A function at an address: the one that the symbols name, without a name, and then those inlined there,
 * outermost first. Addresses without debug information have none.
 */
#define SYMBOL_MAX_INLINED 64
struct symbol_frame {
	uint32_t idx;	/* of the address in the request */
	uint32_t depth; /* 0: not inlined */
	uint32_t line;	/* 0: unknown */
	uint16_t name_len;
	uint16_t file_len; /* 0: unknown */
};

/*
 * A file with the functions of some addresses. These have no frames until the next request of lines for the same
 * file. SYMBOL_FILE_SPLIT may come between.
 */
struct symbol_split {
	uint64_t id; /* of the unit */
	uint32_t nr;
	uint32_t path_len;
};

/* Addresses without a name have none. */
struct symbol_answer {
	uint32_t idx; /* of the address in the request */
	uint32_t name_len;
	uint64_t offset; /* of the address in the function */
};

#endif

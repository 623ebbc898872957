/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_DEBUG_INFO_H
#define PERF_SYMBOL_DEBUG_INFO_H

/*
 * Source lines and inlined functions of an ELF file with DWARF, read by libdw, which is loaded at run time.
 * Only the confined process calls this: files may be hostile.
 */

#include <stdbool.h>
#include <stdint.h>

struct debug_info;

/* Deeper inlining is cut off at the inner end. */
#define DEBUG_MAX_FRAMES 64

/* Files with functions that stay open: fewer than a process may open. */
#define DEBUG_MAX_ADDED 256
#define DEBUG_MAX_PATH	1024

/* A function at an address, or one that is inlined there. The texts are borrowed from struct debug_info. */
struct debug_frame {
	const char *name; /* as it is printed; NULL: unknown */
	const char *file; /* of the source; NULL: unknown */
	uint32_t line;	  /* in it; 0: unknown */
};

/** debug_info__init() - load libdw; call it before confinement. Return: false if there is none. */
bool debug_info__init(void);

/**
 * debug_info__open() - list the compilation units of a file
 * @fd: is duplicated
 * @alt_fd: the file with the debug information that it shares with others, duplicated; -1: none
 *
 * Return: NULL with errno set: ENOSYS: there is no libdw; ENODATA: the file has no debug information;
 * ENOEXEC; ENOMEM.
 */
struct debug_info *debug_info__open(int fd, int alt_fd);
void debug_info__close(struct debug_info *info);

/**
 * debug_info__begin() - begin a request: files that debug_info__missing() named before are not named again
 */
void debug_info__begin(struct debug_info *info);

/* A file that a compiler made for the functions of one unit. */
struct debug_split {
	int nr;			   /* for debug_info__add() */
	uint64_t id;		   /* of the unit */
	char path[DEBUG_MAX_PATH]; /* empty: another address of this request had it already */
};

/**
 * debug_info__missing() - name the file with the functions of an address
 *
 * Return: false: there is none, or an earlier request named it, or too many are open.
 */
bool debug_info__missing(struct debug_info *info, uint64_t address, struct debug_split *split);

/**
 * debug_info__add() - add such a file
 * @nr: of struct debug_split
 * @fd: belongs to @info from now on
 *
 * A file of another build is ignored. It needs sandbox__enter(), which keeps libdw from opening files itself.
 */
void debug_info__add(struct debug_info *info, int nr, int fd);

/** debug_info__split() - the id of the unit at an address if its functions are in such a file; 0: they are not */
uint64_t debug_info__split(const struct debug_info *info, uint64_t address);

/** debug_info__nr_added() - how many of them are open */
int debug_info__nr_added(const struct debug_info *info);

/**
 * debug_info__frames() - the function at an address, and the functions inlined there
 * @address: as in the symbol table of the file
 * @frames: receives DEBUG_MAX_FRAMES at most, outermost first. The first one has a name and the position
 * from which the next one is called, and so on. The last has the position of the address.
 *
 * Reads a compilation unit when the first address in it comes.
 * Return: their number; 0: unknown; -ENOMEM.
 */
int debug_info__frames(struct debug_info *info, uint64_t address, struct debug_frame *frames);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_SYMBOL_PROCESS_H
#define PERF_SYMBOL_SYMBOL_PROCESS_H

/*
 * The confined process, as perf uses it.
 *
 * perf starts a keeper, which gives up all capabilities and descriptors. The keeper forks the worker,
 * which adds a filter of system calls. When a file kills the worker, the keeper reports that and forks the
 * next one. It also replaces a worker when perf tells it to, by SIGUSR1. So a worker never has perf's mappings, and starting one needs no rights.
 */

#include "util/symbol/symbol_wire.h"

#include <stdbool.h>
#include <stdint.h>

struct byte_buffer;
struct symbol_process;

/**
 * symbol_process__start() - start keeper and worker
 *
 * @has_lines: symbol_process__lines() will be called
 *
 * Call it before anything shared is mapped: the keeper is a copy of this process.
 * Return: ended by symbol_process__stop(); NULL with errno set.
 */
struct symbol_process *symbol_process__start(bool has_lines);

/**
 * symbol_process__start_serving() - the same, with another worker; for tests
 * @serve: answers requests from a socket until its end, as symbol_worker__serve() does
 */
struct symbol_process *symbol_process__start_serving(bool has_lines, int (*serve)(int fd));
void symbol_process__stop(struct symbol_process *process);

/*
 * A worker that says nothing for silent_ms, not even that it goes on, is replaced, and its request is given up.
 * A file may have seized it, so a request has an end in any case.
 */
struct symbol_limits {
	int silent_ms, request_ms;
};

#define SYMBOL_SILENT_MS  10000
#define SYMBOL_REQUEST_MS 300000

/** symbol_process__limit() - set other limits than those above */
void symbol_process__limit(struct symbol_process *process, const struct symbol_limits *limits);

/**
 * symbol_process__watch() - call a function about once a second while requests are under way
 * @fn: NULL: no more
 */
void symbol_process__watch(struct symbol_process *process, void (*fn)(void *ctx), void *ctx);

/**
 * symbol_process__describe() - describe an ELF file
 * @debug_fd: a file that may have its debug information; -1: none
 * @is_debug_file: receives whether it has
 *
 * Return: 0; -ENOEXEC: no ELF file; -EBADMSG: the file kills its readers, or they answer wrongly; -ETIMEDOUT: the file makes them hang;
 * -EINTR: the request lasted a second, and a signal came; -EPIPE: there are no workers any more; other -errno.
 */
int symbol_process__describe(struct symbol_process *process, int fd, int debug_fd,
			     struct elf_description *file, bool *is_debug_file);

#define SYMBOL_MAX_PACKAGES 8

/* Files that are read together, and how. Descriptors but the first are -1 if there is no such file. */
struct symbol_files {
	enum symbol_file_kind kind;
	int fd;
	int debug_fd; /* with the debug information */
	int alt_fd;   /* with debug information that it shares with other files; only for lines */
	/*
	 * For lines: open packages of files with functions, the best first, and such a file by its name. NULL: there are none.
	 * Return: the number of descriptors; a descriptor or -errno.
	 */
	int (*open_packages)(void *ctx, int *fds);
	int (*open_split)(void *ctx, const char *path);
	void *ctx;
};

/* name_fn - gets the name of an address: @offset of it in the function. @name ends with a NUL. */
typedef void (*name_fn)(void *ctx, int idx, const char *name, uint64_t offset);

/**
 * symbol_process__name() - find the names of addresses
 * @files: SYMBOL_FILE_ELF, SYMBOL_FILE_PERF_MAP or SYMBOL_FILE_JIT_DUMP
 * @fn: is called for each address that has a name; more than once if a worker died meanwhile
 *
 * Return: as symbol_process__describe().
 */
int symbol_process__name(struct symbol_process *process, const struct symbol_files *files,
			 const uint64_t *addresses, int nr, name_fn fn, void *ctx);

/* A function at an address, as in symbol_wire.h. The texts end with a NUL; unknown ones are empty. */
struct symbol_line {
	int depth; /* 0: not inlined, up to SYMBOL_MAX_INLINED - 1 */
	const char *name, *file;
	int line;
};

/* line_fn - gets a frame of an address */
typedef void (*line_fn)(void *ctx, int idx, const struct symbol_line *line);

/**
 * symbol_process__lines() - find the source lines of addresses, and the functions inlined there
 * @files: SYMBOL_FILE_LINES or SYMBOL_FILE_JIT_LINES
 * @fn: is called for each frame, outermost first; more than once if a worker died meanwhile
 *
 * Return: as symbol_process__describe(); -ENOSYS: there is no libdw; -ENODATA: the file has no debug
 * information.
 */
int symbol_process__lines(struct symbol_process *process, const struct symbol_files *files,
			  const uint64_t *addresses, int nr, line_fn fn, void *ctx);

/* place_fn - gets the members of struct symbol_place */
typedef void (*place_fn)(void *ctx, uint64_t start, uint64_t end, uint64_t address);

/**
 * symbol_process__find() - find the functions of a name in a file
 * @files: SYMBOL_FILE_FIND or SYMBOL_FILE_JIT_FIND
 * @name: as in the symbol table, or as it is printed; longer ones than SYMBOL_MAX_NAME are not found
 * @fn: is called for each; more than once if a worker died meanwhile
 *
 * Return: as symbol_process__describe().
 */
int symbol_process__find(struct symbol_process *process, const struct symbol_files *files,
			 const char *name, place_fn fn, void *ctx);

/**
 * symbol_process__jit_code() - copy functions out of a jitdump
 * @addresses: of the process, ascending, one or more in each wanted function
 * @records: receives records of a jitdump, each function with its lines and then its code; perhaps also on failure
 *
 * Functions whose begin or code is not there any more are left out.
 * Return: as symbol_process__describe(); -EFBIG: more than perf keeps, and @records has the first; -ENOMEM.
 */
int symbol_process__jit_code(struct symbol_process *process, int fd, const uint64_t *addresses,
			     int nr, struct byte_buffer *records);

#endif

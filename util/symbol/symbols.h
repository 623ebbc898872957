/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_SYMBOLS_H
#define PERF_SYMBOL_SYMBOLS_H

/*
 * Names of sampled addresses.
 *
 * An address becomes a place while its process may still be there: an image and a position in it. Places
 * get their names later, all of one image at once.
 */

#include "util/symbol/process_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_process;
struct symbol;
struct symbol_table;
struct symbols;

enum symbols_depth {
	SYMBOLS_NONE, /* no places are made, so nothing is followed */
	SYMBOLS_NAMES,
	SYMBOLS_FILES,	 /* also opens files with debug information, for symbols__open() */
	SYMBOLS_LINES,	 /* also source lines */
	SYMBOLS_INLINES, /* also functions that are inlined at a place */
};

/**
 * symbols__new() - start the confined process, and note or read the kernel's symbols, unless nothing needs them
 * @may_use_bpf: whether a BPF program may ask the kernel for names
 *
 * Call it before anything shared is mapped. Warns if the confined process cannot be started;
 * symbols__resolve() warns if those of the kernel are needed and hidden.
 * Return: owned by the caller; NULL after a message.
 */
struct symbols *symbols__new(enum symbols_depth depth, bool may_use_bpf);
void symbols__delete(struct symbols *symbols);

/**
 * symbols__use_debuginfod() - ask servers for debug information that this machine lacks
 * @urls: with blanks between
 *
 * Call it before anything shared is mapped. Warns if that is not possible.
 */
void symbols__use_debuginfod(struct symbols *symbols, const char *urls);

/** symbols__makes_places() - whether places are made, which needs mappings and processes */
bool symbols__makes_places(const struct symbols *symbols);

/**
 * symbols__follow() - follow new mappings and processes from now on, if they are needed
 *
 * Warns if that is not possible: processes that end between two symbols__update() then have no names.
 */
void symbols__follow(struct symbols *symbols);

/** symbols__unfollow() - end that, as another source of records takes its place */
void symbols__unfollow(struct symbols *symbols);

/** symbols__update() - take the records that have arrived; call it before places are made. 0 or -ENOMEM */
int symbols__update(struct symbols *symbols);

/**
 * symbols__apply() - take a record that the caller has read, in place of symbols__follow()
 * @record: struct perf_event_header and what follows it
 *
 * Return: 0 or -ENOMEM.
 */
int symbols__apply(struct symbols *symbols, const void *record, size_t len);

/** symbols__apply_id() - the same for a record of an event that delivers build ids, before that of the inode */
int symbols__apply_id(struct symbols *symbols, const void *record, size_t len);

/**
 * symbols__forget_ended() - free the memory of processes that have ended
 *
 * Call it after each collection, when the places of all samples are made. Places and their names stay. Return:
 * 0 or -ENOMEM.
 */
int symbols__forget_ended(struct symbols *symbols);

/** symbols__expect() - note a sample before places are made of any of its collection, after symbols__update() */
void symbols__expect(struct symbols *symbols, const struct process_key *key);

/** symbols__process() - the number of a process in samples, until symbols__forget_ended(); or -ENOMEM */
int symbols__process(struct symbols *symbols, const struct process_key *key);

/*
 * Different addresses at most. Code of JIT compilers, and addresses that are in no code, are others in each process: days
 * of perf top would take all memory.
 */
#define SYMBOLS_MAX_PLACES (1 << 21)

/**
 * symbols__place() - the number of a sampled address, the same for the same position in the same file
 * @process: from symbols__process(); not used for the kernel's addresses
 * @is_return: the address is that behind a call, so its function and line are those of the byte before
 *
 * Return: a number from 0 on, or -ENOMEM, also for a new one beyond SYMBOLS_MAX_PLACES.
 */
int symbols__place(struct symbols *symbols, int process, const struct process_key *key,
		   uint64_t address, bool is_kernel, bool is_return);

/* The mapping that a sampled address was in. */
struct symbols_mapping {
	uint64_t start, end;
	uint64_t offset; /* of @start in the file */
	uint64_t image;	 /* number of the file */
};

/**
 * symbols__mapping() - the number of the mapping that a sampled address of user space is in
 *
 * Parameters as of symbols__place(). Return: a number from 1 on, 0: memory without a file, or -ENOMEM.
 */
int symbols__mapping(struct symbols *symbols, int process, const struct process_key *key,
		     uint64_t address);

/** symbols__get_mapping() - a mapping by its number from 1 on, borrowed until symbols__mapping() */
const struct symbols_mapping *symbols__get_mapping(const struct symbols *symbols, int nr);

/**
 * symbols__resolve() - find the names of all places
 * @progress: is called before each image, and about once a second while one is read or fetched; NULL: nobody watches
 *
 * Files that cannot be read in time have no names. After a second, SIGINT and SIGTERM cut it short with a
 * warning: the other places then have no names. The signals arrive afterwards.
 * Return: 0 or -ENOMEM.
 */
typedef void (*progress_fn)(void *ctx, const char *image, int nr, int of);
int symbols__resolve(struct symbols *symbols, progress_fn progress, void *ctx);

/* A place with its name, as symbols__resolve() found it. */
struct place_name {
	int function; /* equal for places of one function; unknown ones have their own */
	int frame;    /* equal for places of one function and one source line */
	const char
		*name; /* of the function, or "file+0x1f0"; never NULL. Inlined: "name (inlined)" */
	uint64_t offset;   /* in the function */
	uint64_t position; /* in the image; an address of the kernel or of JIT code */
	const char *image; /* the last part of the file's name, or "[kernel]", "[ext4]", "[bpf]" */
	const char *path;  /* all of it */
	const char *file;  /* of the source; NULL: unknown, or not asked for */
	int line;	   /* in it; 0: unknown */
	bool is_unknown;
	bool is_kernel;
	bool is_inlined;
	bool is_return; /* the position is that behind a call */
};

/**
 * symbols__inner() - the place of the function that is inlined at a place, as symbols__resolve() found it
 *
 * Return: its number; -1: none.
 */
int symbols__inner(const struct symbols *symbols, int place);

/** symbols__outermost() - the place of the function that has the code of an inlined one; otherwise @place */
int symbols__outermost(const struct symbols *symbols, int place);

/** symbols__name() - describe a place; the texts are borrowed, until symbols__resolve() */
void symbols__name(const struct symbols *symbols, int place, struct place_name *name);

/** symbols__image() - the image of a place, borrowed until symbols__place(); equal numbers @nr: the same */
const struct image *symbols__image(const struct symbols *symbols, int place, int *nr);

/*
 * Names from elsewhere, such as a file: symbols__new_stored() reads nothing of this machine, and all places come
 * from symbols__store().
 */
struct symbols *symbols__new_stored(void);

/** symbols__store_image() - add an image, not IMAGE_KERNEL, which is image 0. Return: its number or -ENOMEM */
int symbols__store_image(struct symbols *symbols, enum image_kind kind, const char *path);

/** symbols__store_build_id() - keep the build id of an image that was added */
void symbols__store_build_id(struct symbols *symbols, int image, const struct build_id *id);

/**
 * symbols__store() - add a place with its name
 * @image: its number
 * @name: position, offset, name, is_unknown and is_return are used, and image for modules of the kernel
 *
 * Return: the place's number; -EEXIST: there is one of that kind at that position; -ENOMEM.
 */
int symbols__store(struct symbols *symbols, int image, const struct place_name *name);

/**
 * symbols__store_jit() - append to the jitdump of an image
 * @image: its number; IMAGE_JIT
 *
 * Only the first 256 such images have one: the others stay without. Return: 0; -EINVAL: it is another image; other -errno.
 */
int symbols__store_jit(struct symbols *symbols, int image, const void *bytes, size_t len);

/** symbols__kernel_function() - the function that a place of the kernel with a name is in, borrowed; NULL: not known */
const struct symbol *symbols__kernel_function(struct symbols *symbols, uint64_t address);

/* All of the kernel's functions, sorted, and the confined process; NULL: there is none. Both are borrowed. */
const struct symbol_table *symbols__kernel(struct symbols *symbols);
struct symbol_process *symbols__reader(const struct symbols *symbols);

/** symbols__has_lines() - whether places have source lines where debug information has */
bool symbols__has_lines(const struct symbols *symbols);

/** symbols__hides_kernel() - whether this user may not see where the kernel's functions are: KERNEL_NAMES_REMEDY */
bool symbols__hides_kernel(const struct symbols *symbols);

/** symbols__start_reader() - the same process, which names from elsewhere start first; NULL with errno */
struct symbol_process *symbols__start_reader(struct symbols *symbols);

/** symbols__describe() - open a file, and the one with its debug information if it is stripped; 0 or -errno */
int symbols__describe(const struct symbols *symbols, struct image *image);

/**
 * symbols__open() - open the file of an image, and those with its debug information
 * @image: its number; a file, or the vDSO
 *
 * The file of a stored image is that at its path, if it has the stored build id. It needs a confined process,
 * which the first call starts. Return: borrowed, until symbols__place(); NULL with errno: ESTALE: another file; others.
 */
const struct image *symbols__open(struct symbols *symbols, int image);

/**
 * symbols__open_jit() - open the jitdump with the code of an image
 * @image: its number; memory of a JIT compiler
 *
 * Return: borrowed, with its descriptor; NULL with errno: ENOENT: there is none; others.
 */
const struct image *symbols__open_jit(struct symbols *symbols, int image);

/** symbols__nr_lost() - records about mappings that were lost */
uint64_t symbols__nr_lost(const struct symbols *symbols);

#endif

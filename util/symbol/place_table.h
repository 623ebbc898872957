/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_PLACE_TABLE_H
#define PERF_SYMBOL_PLACE_TABLE_H

/*
 * Sampled places, each with the function and the source line that were found for it.
 *
 * A place is a position in an image. A function that is inlined there is a place of its own at the same
 * position, one level deeper. Places are numbered from 0 on and stay.
 */

#include "util/lib/blob_set.h"

#include <stdbool.h>
#include <stdint.h>

struct symbol_line;

/* The key of a place. */
struct place_key {
	uint64_t offset; /* in the image; an address of the kernel or of JIT code */
	int32_t image;
	uint16_t
		is_return; /* the address behind a call: function and line are those of the byte before */
	uint16_t depth; /* of an inlined function; 0: not inlined */
};

struct place {
	int function; /* -1: not looked for yet */
	uint64_t offset;
	int inner;     /* the place of the function that is inlined here; -1: none */
	int outermost; /* of an inlined function: the place that has its code; -1: this one */
	int file;      /* of the source; -1: unknown */
	int line;
	int frame; /* number of a function at a line; -1: not looked for yet, or not wanted */
	bool is_unknown;
};

/* All zero: empty. */
struct place_table {
	struct blob_set keys; /* struct place_key */
	struct place *places; /* nr <= keys.nr */
	int nr, cap;
	struct blob_set functions; /* image, a NUL, owner, a NUL, name */
	struct blob_set sources;   /* names of their files */
	struct blob_set frames;
};

void place_table__clear(struct place_table *table);

/**
 * place_table__add() - the place of a key
 * @is_new: receives whether it was added now, without a name
 *
 * Return: its number, or -ENOMEM.
 */
int place_table__add(struct place_table *table, const struct place_key *key, bool *is_new);

/** place_table__has() - whether there is a place of a key */
bool place_table__has(const struct place_table *table, const struct place_key *key);

/** place_table__key() - the key of a place, borrowed until place_table__add() */
const struct place_key *place_table__key(const struct place_table *table, int place);

/**
 * place_table__set_name() - give a place the name of its function
 * @owner: of the kernel: the module; otherwise ""
 * @offset: of the place in the function
 *
 * Return: 0 or -ENOMEM.
 */
int place_table__set_name(struct place_table *table, int place, const char *owner, const char *name,
			  uint64_t offset);

/**
 * place_table__set_line() - give a place, or the function that is inlined there, a source line
 * @line: of one level; lines come with the outermost first
 * @has_inlined: inlined functions become places; otherwise the innermost line is that of the place
 *
 * Return: 0 or -ENOMEM.
 */
int place_table__set_line(struct place_table *table, int place, const struct symbol_line *line,
			  bool has_inlined);

/** place_table__number_frames() - number functions at lines, when all are known. Return: 0 or -ENOMEM */
int place_table__number_frames(struct place_table *table);

/** place_table__owner() - the owner of a place's function, borrowed; the function's name is behind its NUL */
const char *place_table__owner(const struct place_table *table, int place);

/** place_table__file() - the source file of a place, borrowed; NULL: unknown */
const char *place_table__file(const struct place_table *table, int place);

#endif

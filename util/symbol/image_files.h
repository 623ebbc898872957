/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_IMAGE_FILES_H
#define PERF_SYMBOL_IMAGE_FILES_H

/* The files of an image: its own, and those with its debug information, each checked by its build id. */

#include "util/symbol/symbol_process.h"

#include <stdbool.h>

struct debuginfod;
struct image;

struct image_files {
	struct symbol_process *reader; /* NULL: could not be started */
	struct debuginfod *debuginfod; /* NULL: not asked for */
	bool has_debug_files; /* files with debug information are opened, also for names alone */
	bool has_unchecked;   /* a stored image has no build id, and the user was told */
};

/**
 * image_files__watch() - call a function about once a second while files are read or fetched
 * @fn: NULL: no more
 */
void image_files__watch(const struct image_files *files, void (*fn)(void *ctx), void *ctx);

/**
 * image_files__describe() - open the file of an image, and the one with its debug information if it is stripped
 *
 * If the file has gone, or another one is at its path, its debug file takes its place.
 * Return: 0 or -errno; -EPIPE: there is no reader.
 */
int image_files__describe(const struct image_files *files, struct image *image);

/**
 * image_files__open_stored() - open the file at the path of a stored image, which may be another by now
 *
 * Warns once if the image has no build id. Return: 0; -ESTALE: another file; other -errno.
 */
int image_files__open_stored(struct image_files *files, struct image *image);

/** image_files__read_as() - the files of an open image, for requests to the confined process; borrowed */
struct symbol_files image_files__read_as(enum symbol_file_kind kind, const struct image *image);

#endif

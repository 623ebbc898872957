/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_IMAGE_NAMES_H
#define PERF_SYMBOL_IMAGE_NAMES_H

/* The names and source lines of places in one image, from the confined process. */

#include <stdbool.h>

struct image;
struct image_files;
struct place_table;

struct image_names {
	struct image_files *files;
	struct place_table *places;
	bool wants_lines, wants_inlined;
	bool has_no_lines; /* there is no libdw, and the user was told */
	bool is_cut_short; /* by a signal, and the user was not told yet */
	/* Steps of progress; those of this image end at @end. A place takes two if its line is also wanted. */
	int done, end;
};

/**
 * image_names__resolve() - find the names of places, and their source lines if they are wanted
 * @images: all of them, one of which may be the image's jitdump
 * @image: position of the image; no IMAGE_KERNEL
 *
 * Places that the file has no name for stay without one. Only -v reports a file that cannot be read.
 * Return: 0 or -ENOMEM.
 */
int image_names__resolve(struct image_names *names, struct image *images, int image,
			 const int *places, int nr);

#endif

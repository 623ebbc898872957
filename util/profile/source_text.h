/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_SOURCE_TEXT_H
#define PERF_PROFILE_SOURCE_TEXT_H

/* The texts of source lines, from the files that debug information names. */

struct function_code;
struct image;

/**
 * source_text__add() - add the text of the source line of each instruction
 * @image: the program; its source files are looked for below the root directory of its process, then of ours
 *
 * A program may name any file as its source. So only regular files are read that everybody may read, or that
 * belong to the owner of the program. Return: 0, also if files are missing; -ENOMEM.
 */
int source_text__add(struct function_code *code, const struct image *image);

#endif

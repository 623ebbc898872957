/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_PRINT_DIFF_H
#define PERF_PROFILE_PRINT_DIFF_H

/* The functions whose share differs between two profiles. */

#include <stdio.h>

struct flame_tree;
struct profile_options;

/**
 * print_diff() - print a row for each function, the largest change first
 * @names: the files of before and after, for the text
 *
 * Return: 0 or -ENOMEM.
 */
int print_diff(FILE *out, const struct flame_tree *tree, const struct profile_options *options,
	       const char *const names[2]);

#endif

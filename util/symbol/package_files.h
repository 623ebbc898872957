/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_PACKAGE_FILES_H
#define PERF_SYMBOL_PACKAGE_FILES_H

/* Where packages (.dwp) of a program's split debug information may lie. */

struct image;

/**
 * package_files__open() - open the packages that may be those of a program
 * @fds: receives SYMBOL_MAX_PACKAGES descriptors at most, the best first
 *
 * Looks beside the program, beside its debug file, beside the file that this one is a link to, and below
 * /usr/lib/debug. gdb, lldb and libdw give them different names there.
 * Return: their number.
 */
int package_files__open(const struct image *image, int *fds);

#endif

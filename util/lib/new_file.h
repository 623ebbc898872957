/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_NEW_FILE_H
#define PERF_LIB_NEW_FILE_H

/* Files that get their name when they are complete: a killed perf leaves nothing. */

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* All zero: not open. */
struct new_file {
	char *path; /* owned */
	char *temp; /* its name until it is complete; NULL: none */
	FILE *file;
	bool is_stream; /* a fifo or device, or standard output: written directly */
};

/**
 * new_file__open() - begin to write
 * @path: "-": standard output; a fifo or device; otherwise the name of the file
 * @mode: permissions of a file, without those of the umask
 *
 * Return: 0, or -errno without a message. Released by new_file__close() in any case.
 */
int new_file__open(struct new_file *new, const char *path, mode_t mode);

/**
 * new_file__replace() - the same, for a file that takes the place of a previous one
 *
 * If that is of perf's user, the new file has its permissions, and is where a link leads to.
 */
int new_file__replace(struct new_file *new, const char *path, mode_t mode);

/**
 * new_file__finish() - flush, and give the file its name, which replaces a previous file
 * @old: the previous file gets this name; NULL: it is deleted
 *
 * Return: 0, or -errno without a message.
 */
int new_file__finish(struct new_file *new, const char *old);

/** new_file__close() - close it, and remove an unfinished file */
void new_file__close(struct new_file *new);

/** new_file__dir() - the directory of a path, owned by the caller; NULL: out of memory */
char *new_file__dir(const char *path);

#endif

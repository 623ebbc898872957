/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_TOOL_PROCESS_H
#define PERF_SYMBOL_TOOL_PROCESS_H

/*
 * A foreign program that prints lines about a file, with as few rights as it can work with.
 *
 * It has no capabilities and gains none, and runs as the user nobody if perf is root. It has no descriptors but
 * its input, its output and /dev/null, and no environment. It cannot write files. Its time and memory
 * are limited.
 */

#include <stddef.h>

/* tool_line_fn - gets a line without its line feed. Return: 0; -errno ends the program */
typedef int (*tool_line_fn)(void *ctx, char *line);

/** tool_process__find() - the path of a program in PATH, owned by the caller; NULL: there is none */
char *tool_process__find(const char *name);

/**
 * tool_process__run() - run a program to its end
 * @argv: ends with NULL; argv[0] is the path
 * @input: its standard input, which it can open again as TOOL_INPUT
 * @max_bytes: it may print so much
 *
 * Return: 0; -errno of @fn; -ETIMEDOUT: it took more than TOOL_SECONDS; -EFBIG: it printed more; -ECHILD: it failed;
 * -ECANCELED: its rights could not be taken away; -ENOPKG: it could not be executed; other -errno.
 */
#define TOOL_INPUT   "/proc/self/fd/0"
#define TOOL_SECONDS 60
int tool_process__run(const char *const argv[], int input, size_t max_bytes, tool_line_fn fn,
		      void *ctx);

#endif

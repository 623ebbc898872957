/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_HOST_NEXT_PERF_H
#define PERF_HOST_NEXT_PERF_H

/*
 * The next perf in PATH that is not ours, to run the commands that ours lacks.
 *
 * Ours is the same file (by any link), or another file with the mark of our program in it. Linux's perf
 * is an ELF file with names that only it has: it is executed with the environment untouched. Any other
 * file may be a wrapper that leads back to us. It gets a variable that lists the wrappers already
 * executed; each perf of ours removes the variable when it starts.
 */

#include <stdbool.h>

struct next_perf {
	char *path;
	unsigned long long dev, ino;
	bool is_linux; /* recognised as Linux's perf: it cannot lead back to us */
};

/** next_perf__init() - take the list of wrappers that led here out of the environment; call it first */
void next_perf__init(void);

/**
 * next_perf__find() - find the next perf in PATH that is not ours
 * @out: receives it, to be released by next_perf__clear() in any case
 *
 * Begins behind our own directory in PATH and goes on at the start of PATH.
 * Return: 0, -ENOENT: there is none, -ELOOP: wrappers lead back to us only, -ENOMEM.
 */
int next_perf__find(struct next_perf *out);

/** next_perf__clear() - release the path */
void next_perf__clear(struct next_perf *next);

/**
 * next_perf__exec() - replace this process by @next, with the same arguments
 *
 * Return: only on failure, -errno.
 */
int next_perf__exec(const struct next_perf *next, char **argv);

/**
 * next_perf__ask() - what @next prints on stdout for one argument, such as --version
 *
 * Return: the first 64 KB, owned by the caller; NULL if there is no output, or with errno set.
 */
char *next_perf__ask(const struct next_perf *next, const char *arg);

/** next_perf__package() - how to install Linux's perf on this distribution; a static text */
const char *next_perf__package(void);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_LIB_UTIL_H
#define PERF_LIB_UTIL_H

/* Helpers for memory, files and time, and the roots of file systems. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define NSEC_PER_SEC  1000000000ULL
#define NSEC_PER_MSEC 1000000ULL

/** __cleanup - call @fn with a pointer to the variable when it goes out of scope */
#define __cleanup(fn)	    __attribute__((cleanup(fn)))
#define __printf(fmt, args) __attribute__((format(printf, fmt, args)))
#define __unused	    __attribute__((unused))

/** close_fd() - cleanup helper: close a descriptor that is open (>= 0) and leave -1 */
static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/** free_ptr() - cleanup helper: free what a pointer variable holds, leaves NULL */
static inline void free_ptr(void *pp)
{
	void **p = pp;

	free(*p);
	*p = NULL;
}

/**
 * xasprintf() - asprintf that returns the string
 *
 * Return: the string, owned by the caller, or NULL with errno ENOMEM.
 */
char *xasprintf(const char *fmt, ...) __printf(1, 2);

/**
 * read_up_to() - read from a place in a file, until the end of the file at most
 *
 * Return: the number of bytes, less than @len only at the end; -errno.
 */
ssize_t read_up_to(int fd, void *data, size_t len, uint64_t at);

/** read_exactly() - the same of all @len bytes; 0, -EIO if the file ends before, other -errno */
int read_exactly(int fd, void *data, size_t len, uint64_t at);

/**
 * read_file() - read a small text file (sysfs, procfs) whole
 * @path: the file
 * @len: when not NULL, receives the length without the final NUL
 *
 * Return: its text, NUL-terminated, owned by the caller; NULL with errno set: EFBIG from 256 MiB on.
 */
char *read_file(const char *path, size_t *len);

/**
 * read_file_line() - the same for a file of one line, without trailing newline or blanks
 */
char *read_file_line(const char *path);

/**
 * read_file_line_at() - the same with a path relative to @dir, a descriptor of a directory
 *
 * The kernel walks over a long path in sysfs each time anew, which is most of the work.
 */
char *read_file_line_at(int dir, const char *path);

/**
 * sysfs_root(), procfs_root(), tracefs_root(), bpffs_root() - where these file systems are
 *
 * Tests move them by SYSFS_PATH, PROCFS_PATH, TRACEFS_PATH and BPF_PATH; perf ignores these if its file
 * has capabilities that the user lacks. tracefs is /sys/kernel/tracing, or its old place below
 * debugfs if only that is mounted.
 */
const char *sysfs_root(void);
const char *procfs_root(void);
const char *tracefs_root(void);
const char *bpffs_root(void);

/**
 * set_debugfs_root() - move debugfs: tracefs_root() is then the directory "tracing" in it
 *
 * Ignored if perf's file has capabilities that the user lacks. Return: 0 or -ENOMEM.
 */
int set_debugfs_root(const char *path);

/**
 * clock_ns() - CLOCK_MONOTONIC in nanoseconds
 */
uint64_t clock_ns(void);

/**
 * use_locale() - take the user's locale for characters, digits and texts of errors
 *
 * The C library opens files for each part of a locale. No other part changes what perf does.
 */
void use_locale(void);

/** shown_arg() - an argument for messages: "''" if it is empty, otherwise as it is */
static inline const char *shown_arg(const char *arg)
{
	return *arg ? arg : "''";
}

/**
 * nearest_name() - the entry of a list that is most similar to a mistyped name
 * @name: what was typed
 * @list: NULL-terminated names
 *
 * Return: an entry of @list (borrowed), or NULL when none is close.
 */
const char *nearest_name(const char *name, const char *const *list);

#endif

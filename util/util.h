/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_UTIL_H
#define PERF_UTIL_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL

/** __cleanup - call @fn with a pointer to the variable when it goes out of scope */
#define __cleanup(fn) __attribute__((cleanup(fn)))
#define __printf(fmt, args) __attribute__((format(printf, fmt, args)))
#define __unused __attribute__((unused))

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
 * read_file() - read a small text file (sysfs, procfs) whole
 * @path: the file
 * @len: when not NULL, receives the length without the final NUL
 *
 * Return: its text, NUL-terminated, owned by the caller; NULL with errno set.
 */
char *read_file(const char *path, size_t *len);

/**
 * read_file_line() - the same for a file of one line: no trailing newline or blanks
 */
char *read_file_line(const char *path);

/**
 * sysfs_root(), procfs_root(), tracefs_root(), bpffs_root() - where these file systems are
 *
 * The environment may move each of them for tests: SYSFS_PATH, PROCFS_PATH, TRACEFS_PATH, BPF_PATH;
 * not that of a user who lacks privileges that perf's file has.
 * tracefs is /sys/kernel/tracing, or its old place below debugfs if only that one is mounted.
 */
const char *sysfs_root(void);
const char *procfs_root(void);
const char *tracefs_root(void);
const char *bpffs_root(void);

/**
 * clock_ns() - CLOCK_MONOTONIC in nanoseconds
 */
uint64_t clock_ns(void);

/**
 * nearest_name() - the entry of a list that is most alike a mistyped name
 * @name: what was typed
 * @list: NULL-terminated names
 *
 * Return: an entry of @list (borrowed), or NULL when none is close.
 */
const char *nearest_name(const char *name, const char *const *list);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_ATTR_PIN_H
#define PERF_BPERF_ATTR_PIN_H

/*
 * Opening pinned objects without trusting their path. BPF_OBJ_GET follows symbolic links, and a path
 * can be exchanged between a check and a use. So each object is opened with O_PATH and judged by that
 * descriptor, and /proc/self/fd leads BPF_OBJ_GET and BPF_OBJ_PIN to what was judged.
 */

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/** attr_pin__is_trusted() - whether objects of @user are believed: root's, one's own, @trusted's */
bool attr_pin__is_trusted(uid_t user, const uid_t *trusted);

/**
 * attr_pin__open_parent() - open the directory of a pin, which is on a BPF file system
 * @path: of the pin
 *
 * Root mounts the usual file system when there is none.
 * Return: a descriptor (O_PATH), or -errno after a message.
 */
int attr_pin__open_parent(const char *path);

/** attr_pin__name() - the last part of @path, which follows the last slash; borrowed from it */
const char *attr_pin__name(const char *path);

/**
 * attr_pin__get() - open the map that is pinned at a path
 * @parent: of attr_pin__open_parent()
 * @path: of the pin, for its name and for messages
 * @trusted: see attr_map__open()
 * @st: on success the pin's inode
 *
 * Return: a descriptor; -ENOENT without a message: there is none; other -errno after a message.
 */
int attr_pin__get(int parent, const char *path, const uid_t *trusted, struct stat *st);

/** attr_pin__pin() - pin @fd at a path; 0 or -errno without a message */
int attr_pin__pin(int parent, const char *path, int fd);

/**
 * attr_pin__open_dir() - open a directory beside the pin, made with mode 0700 when it is absent
 * @path: of the directory
 * @st: on success its inode
 *
 * Return: a descriptor, or -errno after a message.
 */
int attr_pin__open_dir(int parent, const char *path, const uid_t *trusted, struct stat *st);

/** attr_pin__is_at() - whether the path still leads to the inode @st */
bool attr_pin__is_at(int parent, const char *path, const struct stat *st);

/** attr_pin__report_open() - report why the map could not be opened; returns @err */
int attr_pin__report_open(const char *path, int err);

#endif

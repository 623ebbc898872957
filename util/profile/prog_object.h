/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_PROFILE_PROG_OBJECT_H
#define PERF_PROFILE_PROG_OBJECT_H

/* A BPF object of the user's, whose program runs at each sample: --prog. */

#include <stdio.h>

struct prog_object;

/**
 * prog_object__load() - load the program of the section perf_event
 *
 * Return: 0 or -errno after a message; -EINVAL: there is not exactly one such program.
 */
int prog_object__load(const char *path, struct prog_object **out);
void prog_object__delete(struct prog_object *object);

/** prog_object__fd() - its descriptor, borrowed */
int prog_object__fd(const struct prog_object *object);

/**
 * prog_object__dump() - print all maps with the types that the object names
 *
 * Elements of arrays that are 0 are left out. Without types, bytes are printed. Maps without elements, such
 * as ring buffers, have one line only. Return: 0 or -errno.
 */
int prog_object__dump(const struct prog_object *object, FILE *out);

#endif

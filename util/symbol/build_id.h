/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_BUILD_ID_H
#define PERF_SYMBOL_BUILD_ID_H

/* The build id of an ELF file, and the place of the debug file that has the same. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX 20

struct build_id {
	uint32_t len; /* 0: none */
	uint8_t bytes[BUILD_ID_MAX];
};

/**
 * build_id__find() - find the build id among the notes of a section or segment
 * @notes: notes as in an ELF file of this machine's byte order; @len bytes
 * @align: alignment of the notes: 4 or 8
 *
 * Takes the first note of type NT_GNU_BUILD_ID and owner "GNU" with 2 to BUILD_ID_MAX bytes. Without
 * one, @id gets the length 0.
 */
void build_id__find(const void *notes, size_t len, size_t align, struct build_id *id);

/** build_id__are_equal() - whether two are the same, also if both are none */
bool build_id__are_equal(const struct build_id *a, const struct build_id *b);

/**
 * build_id__debug_path() - "usr/lib/debug/.build-id/ab/cdef.debug", relative to a root directory
 *
 * Return: owned by the caller; NULL with errno: ENOENT: there is no build id; ENOMEM.
 */
char *build_id__debug_path(const struct build_id *id);

#endif

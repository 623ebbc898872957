/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_XZ_DATA_H
#define PERF_SYMBOL_XZ_DATA_H

/* Data compressed by xz, unpacked by liblzma, which is loaded at run time. It may be hostile. */

#include <stdbool.h>
#include <stddef.h>

/** xz_data__init() - load liblzma; call it before confinement. Return: false if there is none. */
bool xz_data__init(void);

/**
 * xz_data__unpack() - unpack a whole stream
 * @len: its length; receives that of the result, at most XZ_MAX_BYTES
 *
 * Return: owned by the caller; NULL if that is not possible.
 */
#define XZ_MAX_BYTES (256UL << 20)
void *xz_data__unpack(const void *data, size_t *len);

#endif

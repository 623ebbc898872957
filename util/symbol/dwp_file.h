/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_DWP_FILE_H
#define PERF_SYMBOL_DWP_FILE_H

/*
 * A package (.dwp) of files with split debug information (.dwo).
 *
 * Only the confined process calls this: files may be hostile. It needs no libdw, of which older versions know files
 * .dwo alone.
 */

#include <stdint.h>

struct byte_buffer;

/**
 * dwp_file__unit() - make the file of one unit, with only those texts that the unit has
 * @fd: the package
 * @id: of the unit
 * @file: is empty; receives an ELF file
 *
 * Return: 0; -ENOENT: no package, or it lacks the unit; -EBADMSG: the package is damaged, or not of this machine's
 * byte order and 64 bits; -EFBIG; -ENOMEM.
 */
int dwp_file__unit(int fd, uint64_t id, struct byte_buffer *file);

#endif

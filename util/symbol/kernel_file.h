/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_KERNEL_FILE_H
#define PERF_SYMBOL_KERNEL_FILE_H

/* The file vmlinux of the running kernel: its code as it was built, and its debug information. */

#include "util/symbol/build_id.h"

#include <stdint.h>

struct symbol_process;

/* All zero but fd, which is -1: there is no such file. */
struct kernel_file {
	int fd;
	uint64_t start;	   /* address of the kernel's code in memory */
	uint64_t end;	   /* the same, without the end */
	uint64_t position; /* of the code in the file */
};

/** kernel_file__build_id() - the build id of the running kernel; its length is 0 if it is unknown */
void kernel_file__build_id(struct build_id *id);

/**
 * kernel_file__open() - look where distributions and kernel builds have the file
 * @reader: parses it
 *
 * Only a file with the build id of the running kernel is taken. kernel_file__close() releases it in any case.
 */
void kernel_file__open(struct kernel_file *file, struct symbol_process *reader);
void kernel_file__close(struct kernel_file *file);

#endif

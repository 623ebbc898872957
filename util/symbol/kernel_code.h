/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_SYMBOL_KERNEL_CODE_H
#define PERF_SYMBOL_KERNEL_CODE_H

/* The machine code of the kernel as it is in memory. */

#include <stddef.h>
#include <stdint.h>

/**
 * kernel_code__read() - copy code of the kernel or of a module from PROCFS/kcore
 *
 * Return: 0; -ENXIO: there is no such file; -EPERM or -EACCES: it may not be read; -EFAULT: it lacks the address; other
 * -errno.
 */
int kernel_code__read(uint64_t address, void *bytes, size_t len);

#endif

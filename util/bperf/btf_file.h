/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_BTF_FILE_H
#define PERF_BPERF_BTF_FILE_H

/* Types of our own, which a loader reads instead of the kernel's. */

struct btf;

/**
 * btf_file__write() - write types to a file that only its descriptor leads to
 * @name: of the file, for people who look at descriptors
 *
 * Return: a descriptor, owned by the caller, or -errno.
 */
int btf_file__write(const struct btf *btf, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_TASK_BTF_H
#define PERF_UTIL_TASK_BTF_H

/*
 * Where the kernel's task_struct has what the probes at BPF programs read of it. To look that up in
 * all of the kernel's types takes 30 ms, for each object that is loaded; so it is done once, and the
 * loader is given types of our own that say just this.
 */

#include <linux/types.h>

/**
 * task_btf__find() - look the offsets of nvcsw and nivcsw up
 *
 * Return: 0, or -errno: the kernel has no BTF, or nests them deeper.
 */
int task_btf__find(__u32 offsets[2]);

/**
 * task_btf__new() - such types, in a file that has no name
 *
 * Return: a descriptor, owned by the caller, or -errno.
 */
int task_btf__new(const __u32 offsets[2]);

#endif

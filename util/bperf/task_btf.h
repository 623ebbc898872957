/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_TASK_BTF_H
#define PERF_BPERF_TASK_BTF_H

/*
 * Offsets of task_struct fields for the probes at BPF programs. The search through all types of the
 * kernel takes 30 ms for each object that is loaded. So one session does it once, and gives the loader
 * types of its own with just these fields.
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

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPERF_KERNEL_BTF_H
#define PERF_BPERF_KERNEL_BTF_H

/*
 * The few of the kernel's types that our programs need, found in one walk over its BTF.
 *
 * libbpf would index all types, and walk over them again for each type that a program names: some 45
 * million instructions, where this takes 8.
 */

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

/* The kernel's own types. Tests with another sysfs ($SYSFS_PATH) still run on this kernel. */
#define KERNEL_BTF "/sys/kernel/btf/vmlinux"

/* Types and functions of a running kernel. */
struct kernel_btf {
	__u32 iter_task_id; /* of the functions that iterators' programs are loaded for; 0: none */
	__u32 iter_cgroup_id;
	__u32 irq_save_id; /* of the functions that keep interrupts off; 0: none (before Linux 6.14) */
	__u32 irq_restore_id;
	__u32 kernel_context_id; /* of the function that turns a context into the kernel's; 0: none (before Linux 6.2) */
	bool exits_late; /* sched_process_exit is right before perf_event_exit_task() (Linux 6.16) */
	int types_fd; /* a file with BTF of the fields that programs read; -1: none, since a limit forbids it */
};

/**
 * kernel_btf__read() - find what the programs need
 * @file: the kernel's BTF; its content is checked
 * @btf: released by kernel_btf__close(), also after an error
 *
 * Return: 0; -EINVAL: it is empty, cut off, or of a format that is not known; other -errno.
 */
int kernel_btf__read(const char *file, struct kernel_btf *btf);

void kernel_btf__close(struct kernel_btf *btf);

#endif

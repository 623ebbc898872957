/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_KERNEL_LOOKUP_H
#define PERF_BPF_KERNEL_LOOKUP_H

#include <linux/types.h>

/*
 * The memory that kernel_lookup.bpf.c shares with user space. The text is "NAME+0xOFFSET/0xSIZE[ [MODULE]]"; names have
 * at most 512 bytes (KSYM_NAME_LEN).
 */
struct kernel_query {
	__u64 address;
	char text[640];
};

#endif

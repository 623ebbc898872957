/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_EXPLAIN_H
#define PERF_BPF_EXPLAIN_H

/* Structs and limits shared by the programs of --explain and user space. */
#ifndef __bpf__
#include <linux/types.h>
#endif

/* Depth of followed functions that call one another. A power of 2. */
#define EXPLAIN_DEPTH 32

/* Kernel errors are below 4096; one session meets few of them. */
#define EXPLAIN_ERRORS 64

/* The call path to the error of a system call. on_return writes it, user space reads it. */
struct explain_call {
	__u64 stack[EXPLAIN_DEPTH]; /* addresses of functions, the outermost first */
	__u32 depth;		    /* number of them; the error came up in the last */
	__u32 tried; /* functions called by the last one that also returned the error: 0, 2.. */
};

#endif

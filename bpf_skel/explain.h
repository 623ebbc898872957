/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_EXPLAIN_H
#define PERF_BPF_EXPLAIN_H

/* What the programs of --explain and user space share. */

#ifndef __bpf__
#include <linux/types.h>
#endif

/* Functions that are looked at and called by one another. A power of 2. */
#define EXPLAIN_DEPTH 32

/* Errors of the kernel are below 4096; few of them are met in one run. */
#define EXPLAIN_ERRORS 64

/* How a system call came to fail. Written by on_return, read by user space. */
struct explain_call {
	__u64 stack[EXPLAIN_DEPTH];	/* addresses of functions, the outermost first */
	__u32 depth;			/* of them; the last is where the error came up */
	__u32 tried;			/* functions called by that one that had returned it, too: 0, 2.. */
};

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WITNESS_H
#define WITNESS_H

/* Shared by the witness's BPF programs and user space, which have the same byte order. */

#include <linux/types.h>

#define WITNESS_TASKS  16384
#define WITNESS_LIVING 65536 /* threads that were born since the begin */
#define WITNESS_DEAD   65536 /* threads that have ended and wait for their release */

/* A process at a switch. After an exec or a move to another cgroup, it is another one. */
struct witness_who {
	__u64 cgroup; /* id in the v2 hierarchy */
	__u32 tgid;
	__u32 pad;
	char comm[16];
};

/* A part of a CPU's work. */
struct witness_share {
	__u64 switches;
	__u64 ns;
	__u64 events;
};

/* The record of a CPU, written only by its own switches. */
struct witness_cpu {
	struct witness_share hidden; /* between the visible switches around hidden ones */
	__u64 between;		     /* events of them where at least two switches were hidden */
	__u64 seen;		     /* visible switches */
	__u64 dropped;		     /* shares and ends for which the tables had no room */
	__u64 failed;		     /* reads of the events */
	__u64 ns;		     /* clock and event at the last visible switch */
	__u64 events;
	__u64 switches;		 /* the kernel's count of switches then */
	struct witness_who next; /* the process that it switched to */
};

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TARGET_BPF_PROG_LEFT_OUT_H
#define PERF_TARGET_BPF_PROG_LEFT_OUT_H

/*
 * BPF programs left out of the count, with reasons, for a single line. A program that a tool loads again
 * and again is named once. Pure logic.
 */

#include <linux/types.h>
#include <stdbool.h>

struct bpf_prog_left_out_name {
	char *name, *why; /* owned */
	__u32 id;	  /* of the first program with this name and reason */
	int nr;		  /* number of these programs when it was printed */
	bool is_printed;
};

/* Zeroed at first. */
struct bpf_prog_left_out {
	struct bpf_prog_left_out_name *name;
	int nr;
};

/** bpf_prog_left_out__add() - add a program and the reason; copies the texts. 0 or -ENOMEM */
int bpf_prog_left_out__add(struct bpf_prog_left_out *left_out, const char *name, __u32 id,
			   const char *why);

/**
 * bpf_prog_left_out__text() - "3 programs left out: 'a' (id 1 and 1 more): WHY; 'b' (id 4): WHY"
 *
 * Marks these programs as printed. Return: owned by the caller; NULL: nothing new, or ENOMEM.
 */
char *bpf_prog_left_out__text(struct bpf_prog_left_out *left_out);

/** bpf_prog_left_out__clear() - release all names */
void bpf_prog_left_out__clear(struct bpf_prog_left_out *left_out);

#endif

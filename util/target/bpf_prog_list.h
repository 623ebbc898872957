/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TARGET_BPF_PROG_LIST_H
#define PERF_TARGET_BPF_PROG_LIST_H

/* BPF programs to count, found by the list of -b. */

#include "util/target/bpf_prog.h"
#include "util/target/bpf_prog_left_out.h"

struct bpf_prog_usage;

struct bpf_prog_list {
	int nr;
	struct bpf_prog *prog;	      /* places of BPF_PROG_OVER are used again unless by_row */
	char *list;		      /* text of -b */
	bool by_row;		      /* each program keeps its own row */
	bool follows;		      /* the list has names, tags or all: new programs can match */
	__u32 looked_until;	      /* programs up to this id have been considered */
	__u32 newest;		      /* the highest id seen */
	int nr_delays;		      /* consecutive looks that delayed new programs */
	struct bpf_prog_usage *usage; /* of all programs; owned */
	struct bpf_prog_left_out left_out;
};

/**
 * bpf_prog_list__new() - find the programs of a comma list, each once
 * @out: set on success, released by bpf_prog_list__delete()
 *
 * A program given by id or pin that cannot be counted is an error. A name, a tag or "all" selects the
 * matching programs that can be counted, and notes the rest as left out.
 * Return: 0 or -errno after a message.
 */
int bpf_prog_list__new(const char *list, struct bpf_prog_list **out);

/**
 * bpf_prog_list__look() - add new programs that match; only for a list that follows
 *
 * They become BPF_PROG_WANTED. A tool loads its programs one after the other, and only all of them show
 * whether it is a profiler. New programs therefore wait for a look that finds nothing newer, at most for
 * five looks. Costs one system call if nothing is new. Return: 0, or -errno without a message.
 */
int bpf_prog_list__look(struct bpf_prog_list *progs);

/** bpf_prog_list__leave_out() - note that a program is not counted; copies the reason @why */
void bpf_prog_list__leave_out(struct bpf_prog_list *progs, struct bpf_prog *prog, const char *why);

/** bpf_prog_list__warn_left_out() - print one line about programs newly left out, if any */
void bpf_prog_list__warn_left_out(struct bpf_prog_list *progs);

/** bpf_prog_list__delete() - free the list; ignores NULL */
void bpf_prog_list__delete(struct bpf_prog_list *progs);

#endif

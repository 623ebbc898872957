/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TARGET_BPF_PROG_USAGE_H
#define PERF_TARGET_BPF_PROG_USAGE_H

/* Properties of a BPF program, found in all programs and maps. */

#include "util/target/bpf_profilers.h"

struct bpf_prog;

struct bpf_ids {
	__u32 *ids;
	int nr;
};

/* Zeroed at first. Without a search, no program is tail-called or counting. */
struct bpf_prog_usage {
	struct bpf_ids tail_called; /* programs in maps for tail calls */
	struct bpf_profilers profilers;
};

/** bpf_prog_usage__find_tail_called() - search all maps for tail calls; replaces the last result */
void bpf_prog_usage__find_tail_called(struct bpf_prog_usage *usage);

/**
 * bpf_prog_usage__find_profilers() - find the programs of profilers by their maps
 * @after: read only programs with higher ids; 0: all
 *
 * Return: 0 or -errno, as bpf_prog_usage__each().
 */
int bpf_prog_usage__find_profilers(struct bpf_prog_usage *usage, __u32 after);

/** bpf_prog_usage__apply() - set is_tail_called and is_counting of a program */
void bpf_prog_usage__apply(const struct bpf_prog_usage *usage, struct bpf_prog *prog);

/**
 * bpf_prog_usage__each() - visit every program by id, with is_tail_called and is_counting set
 * @after: visit only programs with higher ids; 0: all
 * @visit: borrows the program; a return value other than 0 ends the walk
 *
 * Return: 0, what @visit returned, or -errno: -EPERM without CAP_SYS_ADMIN.
 */
int bpf_prog_usage__each(const struct bpf_prog_usage *usage, __u32 after,
			 int (*visit)(void *ctx, struct bpf_prog *prog), void *ctx);

/** bpf_prog_usage__clear() - release the results */
void bpf_prog_usage__clear(struct bpf_prog_usage *usage);

/**
 * bpf_prog__each() - bpf_prog_usage__each() with a search of its own
 * @visit: borrows the program; a return value other than 0 ends the walk
 *
 * Return: 0, what @visit returned, or -errno: -EPERM without CAP_SYS_ADMIN.
 */
int bpf_prog__each(int (*visit)(void *ctx, struct bpf_prog *prog), void *ctx);

#endif

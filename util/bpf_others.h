/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_BPF_OTHERS_H
#define PERF_UTIL_BPF_OTHERS_H

/* What all BPF programs and maps of the system say of one program. */

#include "bpf_kin.h"

struct bpf_target;

struct bpf_ids {
	__u32 *ids;
	int nr, cap;
};

/* Zeroed to begin with; what has not been looked for is taken not to be. */
struct bpf_others {
	struct bpf_ids tail_called;	/* all programs that are entered by tail call somewhere */
	struct bpf_kin kin;
};

/** bpf_others__find_tail_called() - look through all maps for tail calls */
void bpf_others__find_tail_called(struct bpf_others *others);

/**
 * bpf_others__find_kin() - look which programs count, by those that they share maps with
 *
 * Looks once only. Return: 0 or -errno, as bpf_others__each().
 */
int bpf_others__find_kin(struct bpf_others *others);

/** bpf_others__tell() - set is_tail_called and is_counting of a program */
void bpf_others__tell(const struct bpf_others *others, struct bpf_target *target);

/**
 * bpf_others__each() - every program of the system, by id, having been told of the others
 * @visit: gets a borrowed target; not 0 ends the walk
 *
 * Return: 0, what @visit returned, or -errno: -EPERM without CAP_SYS_ADMIN.
 */
int bpf_others__each(const struct bpf_others *others,
		     int (*visit)(void *ctx, struct bpf_target *target), void *ctx);

/** bpf_others__clear() - release what it has */
void bpf_others__clear(struct bpf_others *others);

#endif

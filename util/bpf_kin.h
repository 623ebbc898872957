/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_BPF_KIN_H
#define PERF_UTIL_BPF_KIN_H

/*
 * Which BPF programs are parts of tools that count. One of a tool's programs can be told by its name or
 * maps; the others are those that share a map with it, directly or through others. Pure logic.
 */

#include <linux/types.h>
#include <stdbool.h>

struct bpf_kin_prog {
	__u32 id;
	__u32 *maps;		/* ids: owned */
	int nr_maps;
	bool is_counting;
};

/* Zeroed to begin with. */
struct bpf_kin {
	struct bpf_kin_prog *prog;
	int nr;
};

/** bpf_kin__add() - one program and copies of the ids of its maps; 0 or -ENOMEM */
int bpf_kin__add(struct bpf_kin *kin, __u32 id, const __u32 *maps, int nr_maps, bool is_counting);

/** bpf_kin__spread() - whoever shares a map with a program that counts is one, too; after all are there */
void bpf_kin__spread(struct bpf_kin *kin);

/** bpf_kin__is_counting() - whether a program is a part of a tool that counts; unknown ones are not */
bool bpf_kin__is_counting(const struct bpf_kin *kin, __u32 id);

/** bpf_kin__clear() - release what it has */
void bpf_kin__clear(struct bpf_kin *kin);

#endif

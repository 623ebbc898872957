/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TARGET_BPF_PROFILERS_H
#define PERF_TARGET_BPF_PROFILERS_H

/*
 * BPF programs of profilers, found by shared maps. The type and the maps of one program of a
 * profiler identify it. The profiler's other programs share a map with it, directly or through further
 * programs. Pure logic.
 */

#include <linux/types.h>
#include <stdbool.h>

struct bpf_profiler {
	__u32 id;
	__u32 *maps; /* ids; owned */
	int nr_maps;
	bool is_counting;
};

/* Zeroed at first. */
struct bpf_profilers {
	struct bpf_profiler *prog;
	int nr;
};

/** bpf_profilers__add() - add a program and a copy of its map ids; 0 or -ENOMEM */
int bpf_profilers__add(struct bpf_profilers *profilers, __u32 id, const __u32 *maps, int nr_maps,
		       bool is_counting);

/** bpf_profilers__spread() - mark programs that share a map with a counting one; call it last */
void bpf_profilers__spread(struct bpf_profilers *profilers);

/** bpf_profilers__is_counting() - return true if a program belongs to a profiler; unknown ones do not */
bool bpf_profilers__is_counting(const struct bpf_profilers *profilers, __u32 id);

/** bpf_profilers__clear() - release all programs */
void bpf_profilers__clear(struct bpf_profilers *profilers);

#endif

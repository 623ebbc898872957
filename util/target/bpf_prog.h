/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TARGET_BPF_PROG_H
#define PERF_TARGET_BPF_PROG_H

/* Description of a BPF program, and reasons against counting it. */

#include <linux/types.h>
#include <stdbool.h>

enum bpf_prog_state {
	BPF_PROG_WANTED,   /* is counted, or will be once its probes can be loaded */
	BPF_PROG_LEFT_OUT, /* cannot be counted */
	BPF_PROG_GIVEN_UP, /* was counted, and may be gone */
	BPF_PROG_OVER,	   /* was counted, and is gone */
};

struct bpf_prog {
	int fd;
	__u32 id;
	__u32 type;	      /* enum bpf_prog_type */
	char *name;	      /* of its function if it has BTF, otherwise kernel_name */
	char kernel_name[16]; /* as the kernel truncates it */
	unsigned char tag[8];
	__u32 btf_id;  /* 0: no BTF */
	__u32 func_id; /* type id of its function in its BTF */
	bool is_jited;
	__u64 run_cnt;	/* executions, by the kernel's statistics */
	__u32 *map_ids; /* owned */
	int nr_maps;
	bool is_counting;    /* part of a profiler, by its own type and maps, or after
				 * bpf_prog_usage__apply() also by shared maps */
	bool is_tail_called; /* in a map for tail calls: executions that begin there are not seen */
	bool tail_calls;     /* has a map for tail calls: is charged for its callees */
	/* In a list: */
	enum bpf_prog_state state;
	bool is_named;	  /* by id or pin: must be counted, to the end */
	bool is_any;	  /* only matched by "all": must not belong to a profiler */
	bool is_replaced; /* a newer program with its name and type has been seen */
	int nr_given_up;  /* how often it was given up although it was still there */
	bool stays;	  /* is not given up again: another process holds it */
};

/**
 * bpf_prog__by_id() - the program of this id
 * @out: filled on success, released by bpf_prog__clear(); without is_tail_called
 *
 * Return: 0 or -errno; -ENOENT: no such program.
 */
int bpf_prog__by_id(__u32 id, struct bpf_prog *out);

/** bpf_prog__by_path() - the same for a program pinned in bpffs; -EACCES: the pin is not a program */
int bpf_prog__by_path(const char *path, struct bpf_prog *out);

/** bpf_prog__clear() - close the descriptor and free the texts */
void bpf_prog__clear(struct bpf_prog *prog);

/**
 * bpf_prog__why_not() - the reason why a program cannot be counted
 *
 * Loads a probe for it without attaching the probe. Return: owned by the caller; NULL: no reason is
 * known, or ENOMEM.
 */
char *bpf_prog__why_not(const struct bpf_prog *prog);

/** bpf_prog__type_name() - "xdp", "raw_tracepoint" as in bpftool; "type N" for unknown ones */
const char *bpf_prog__type_name(const struct bpf_prog *prog, char buf[16]);

#endif

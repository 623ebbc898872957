/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_BPF_TARGET_H
#define PERF_UTIL_BPF_TARGET_H

/* BPF programs to count: from the text of -b to descriptors, and why some cannot be counted. */

#include <linux/types.h>
#include <stdbool.h>

/* What one word of a list names. */
enum bpf_spec_kind {
	BPF_SPEC_ID,		/* 42, id:42 */
	BPF_SPEC_NAME,		/* name:foo: all of that name, whole or as the kernel cuts it */
	BPF_SPEC_TAG,		/* tag:0123456789abcdef: all with these instructions */
	BPF_SPEC_PINNED,	/* pinned:/sys/fs/bpf/x */
	BPF_SPEC_ALL,		/* all: what can be counted, without the programs that count */
};

struct bpf_spec {
	enum bpf_spec_kind kind;
	__u32 id;
	const char *text;	/* name, path; within the word parsed */
	unsigned char tag[8];
};

/** bpf_spec__parse() - what a word names; 0 or -EINVAL */
int bpf_spec__parse(const char *word, struct bpf_spec *spec);

/* One program. */
struct bpf_target {
	int fd;
	__u32 id;
	__u32 type;		/* enum bpf_prog_type */
	char *name;		/* of its function where it has BTF, else what the kernel keeps of it */
	char kernel_name[16];	/* that */
	unsigned char tag[8];
	__u32 btf_id;		/* of its BTF; 0: none */
	__u32 func_id;		/* type id of its function in that */
	bool is_jited;
	__u64 run_cnt;		/* of the kernel's statistics */
	__u32 *map_ids;		/* owned */
	int nr_maps;
	bool is_counting;	/* it is a part of a tool that counts, ours or another: as far as its name
				 * and maps say, by bpf_target__each() also as those of others do */
	bool is_tail_called;	/* it is in a map for tail calls: runs that begin there are not seen */
	bool tail_calls;	/* it has such a map: it is charged for what it calls */
};

struct bpf_targets {
	int nr;
	struct bpf_target *target;
};

/**
 * bpf_targets__new() - the programs of a comma list, each once
 * @out: on success, released by bpf_targets__delete()
 *
 * A program that is named and cannot be counted is an error; of several with one name or tag, and
 * of "all", those that can are taken. Return: 0 or -errno after a message.
 */
int bpf_targets__new(const char *list, struct bpf_targets **out);

/** bpf_targets__delete() - NULL is ignored */
void bpf_targets__delete(struct bpf_targets *targets);

/**
 * bpf_target__by_id() - the program of this id
 * @out: filled on success, released by bpf_target__clear(); is_tail_called is not looked for
 *
 * Return: 0 or -errno; -ENOENT: there is none.
 */
int bpf_target__by_id(__u32 id, struct bpf_target *out);

/** bpf_target__by_path() - the same for a program that is pinned in bpffs */
int bpf_target__by_path(const char *path, struct bpf_target *out);

/** bpf_target__clear() - release what it has */
void bpf_target__clear(struct bpf_target *target);

/**
 * bpf_target__each() - every program of the system, by id
 * @visit: gets a borrowed target; not 0 ends the walk
 *
 * Return: 0, what @visit returned, or -errno: -EPERM without CAP_SYS_ADMIN.
 */
int bpf_target__each(int (*visit)(void *ctx, struct bpf_target *target), void *ctx);

/**
 * bpf_target__why_not() - why a program cannot be counted; NULL: it can, as far as is known before
 *
 * A probe is loaded for it, not attached. Return: text owned by the caller.
 */
char *bpf_target__why_not(const struct bpf_target *target);

/** bpf_target__type_name() - "xdp", "raw_tracepoint" as bpftool says; "type N" for unknown ones */
const char *bpf_target__type_name(const struct bpf_target *target, char buf[16]);

#endif

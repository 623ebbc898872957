/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TARGET_BPF_PROG_SPEC_H
#define PERF_TARGET_BPF_PROG_SPEC_H

/* Parser of the words in the list of -b. */

#include <linux/types.h>

enum bpf_spec_kind {
	BPF_SPEC_ID,	 /* 42, id:42 */
	BPF_SPEC_NAME,	 /* name:foo: all with this name, complete or as the kernel truncates it */
	BPF_SPEC_TAG,	 /* tag:0123456789abcdef: all with these instructions */
	BPF_SPEC_PINNED, /* pinned:/sys/fs/bpf/x */
	BPF_SPEC_ALL,	 /* all that can be counted, except parts of profilers */
};

struct bpf_prog_spec {
	enum bpf_spec_kind kind;
	__u32 id;
	const char *text; /* name or path; points into the parsed word */
	unsigned char tag[8];
};

/** bpf_prog_spec__parse() - parse one word; 0 or -EINVAL */
int bpf_prog_spec__parse(const char *word, struct bpf_prog_spec *spec);

#endif

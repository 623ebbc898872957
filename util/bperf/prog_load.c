// SPDX-License-Identifier: GPL-2.0
#include "util/bperf/prog_load.h"

#include "util/bperf/kernel_btf.h"
#include "util/lib/util.h"

#include "bpf_skel/leader_calls.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * libbpf looks for functions of the kernel by their names, in all of the kernel's types. So these
 * handlers do it, by what kernel_btf.h found: right before a program is loaded.
 */
static struct kernel_btf kernel;
static bool has_types;

static void replace_call(struct bpf_insn *insn, __u32 function_id)
{
	if (function_id) {
		insn->src_reg = BPF_PSEUDO_KFUNC_CALL;
		insn->imm = function_id;
	} else {
		/* r0 = 0 */
		*insn = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K};
	}
}

/* Calls of helpers that do not exist become calls of the kernel's functions, if it has them. */
static int replace_calls(struct bpf_program *prog, struct bpf_prog_load_opts *opts __unused,
			 long cookie __unused)
{
	size_t nr = bpf_program__insn_cnt(prog);
	struct bpf_insn *insns __cleanup(free_ptr) = calloc(nr, sizeof(*insns));

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(prog), nr * sizeof(*insns));
	for (size_t i = 0; i < nr; i++) {
		if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg)
			continue;
		if (insns[i].imm == CALL_IRQ_SAVE)
			replace_call(&insns[i], kernel.irq_save_id);
		else if (insns[i].imm == CALL_IRQ_RESTORE)
			replace_call(&insns[i], kernel.irq_restore_id);
		else if (insns[i].imm == CALL_KERNEL_CONTEXT)
			replace_call(&insns[i], kernel.kernel_context_id);
	}
	return bpf_program__set_insns(prog, insns, nr);
}

static int make_iterator(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long is_task)
{
	opts->expected_attach_type = BPF_TRACE_ITER;
	opts->attach_btf_id = is_task ? kernel.iter_task_id : kernel.iter_cgroup_id;
	return bpf_program__set_type(prog, BPF_PROG_TYPE_TRACING);
}

/* Once: libbpf up to 1.2 uses memory that it has freed when all such handlers are gone. */
static void handle_sections(void)
{
	static bool is_done;
	LIBBPF_OPTS(libbpf_prog_handler_opts, calls, .prog_prepare_load_fn = replace_calls);
	LIBBPF_OPTS(libbpf_prog_handler_opts, walk, .prog_prepare_load_fn = make_iterator);

	if (is_done)
		return;
	libbpf_register_prog_handler(SECTION_TRACEPOINT, BPF_PROG_TYPE_RAW_TRACEPOINT, 0, &calls);
	libbpf_register_prog_handler(SECTION_KPROBE, BPF_PROG_TYPE_KPROBE, 0, &calls);
	libbpf_register_prog_handler(SECTION_SAMPLE, BPF_PROG_TYPE_PERF_EVENT, 0, &calls);
	/* Another type until it is loaded: libbpf would read all types as soon as it sees this one. */
	libbpf_register_prog_handler(SECTION_WALK_GROUP, BPF_PROG_TYPE_RAW_TRACEPOINT, 0, &walk);
	walk.cookie = true;
	libbpf_register_prog_handler(SECTION_WALK_TASK, BPF_PROG_TYPE_RAW_TRACEPOINT, 0, &walk);
	is_done = true;
}

void prog_load__begin(void)
{
	handle_sections();
}

/* --- types --- */

int prog_load__types(const struct kernel_btf **types)
{
	int err = has_types ? 0 : kernel_btf__read(KERNEL_BTF, &kernel);

	if (err)
		kernel_btf__close(&kernel);
	has_types = !err;
	*types = &kernel;
	return err;
}

int prog_load__set_types(struct bpf_object_open_opts *opts)
{
	static char path[64];
	const struct kernel_btf *types;
	int err = prog_load__types(&types);

	if (err || types->types_fd < 0)
		return err;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", types->types_fd);
	opts->btf_custom_path = path;
	return 0;
}

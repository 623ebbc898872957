// SPDX-License-Identifier: GPL-2.0
/* empty_switch: attach a BPF program to sched_switch that does nothing, print "ready", and wait for a signal. */
#include "workload.h"
#include <linux/bpf.h>
#include <sys/syscall.h>

int main(void)
{
	const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr load = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (unsigned long)insns,
		.insn_cnt = 2,
		.license = (unsigned long)"GPL",
	};
	union bpf_attr attach = {.raw_tracepoint.name = (unsigned long)"sched_switch"};

	attach.raw_tracepoint.prog_fd = syscall(__NR_bpf, BPF_PROG_LOAD, &load, sizeof(load));
	if (syscall(__NR_bpf, BPF_RAW_TRACEPOINT_OPEN, &attach, sizeof(attach)) < 0)
		die("sched_switch");
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}

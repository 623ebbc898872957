/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_IRQ_H
#define PERF_BPF_LEADER_IRQ_H

/* Part of the leader's objects, not a header: changing a CPU's state outside of switches. */
#include "leader_cpu.bpf.h"
#include "leader_calls.h"

/*
 * Functions of the kernel that keep interrupts off, since Linux 6.14. If an object named them,
 * libbpf would read all of the kernel's types. So these are calls of helpers that do not exist,
 * and util/bperf/prog_load.c puts the kernel's functions in their place, or nothing.
 */
static long (*const bpf_local_irq_save)(unsigned long *flags) = (void *)CALL_IRQ_SAVE;
static long (*const bpf_local_irq_restore)(unsigned long *flags) = (void *)CALL_IRQ_RESTORE;

/*
 * Begin to change this CPU's state outside of switches, with interrupts off. Kernels that can
 * preempt tracepoint programs (since Linux 7) have functions that forbid it; others keep
 * preemption off.
 * Return: this CPU's state; NULL: another change is under way, and this one is lost.
 */
static __always_inline struct cpu_state *seize_cpu(__u32 *cpu, unsigned long *irq_flags)
{
	struct cpu_state *state;

	bpf_local_irq_save(irq_flags);
	*cpu = bpf_get_smp_processor_id();
	state = bpf_map_lookup_elem(&cpus, cpu);
	if (!state)
		return NULL;
	if (state->busy) {
		state->lost++;
		return NULL;
	}
	begin_change(state);
	return state;
}

static __always_inline void release_cpu(struct cpu_state *state, unsigned long *irq_flags)
{
	if (state)
		end_change(state);
	bpf_local_irq_restore(irq_flags);
}

#endif

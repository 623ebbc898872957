// SPDX-License-Identifier: GPL-2.0
/*
 * The leader's object for counting by task, loaded when the first session counts tasks. Its parts:
 *
 *	leader_slices	charging a scope set's events while a CPU runs it
 *	leader_irq	changing a CPU's state outside of switches
 *	leader_tasks	the scope set of a task
 *	leader_life	fork, exec and end of tasks
 *	leader_walk	task walks: changing the scope sets of running tasks
 *
 * This file: the programs that charge the running task.
 */
#include "leader_life.bpf.h"
#include "leader_tasks.bpf.h"
#include "leader_walk.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Attached to sched_switch while a session counts tasks. */
SEC("raw_tp/sched_switch")
int on_task_switch(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 next = ctx->args[2];
	struct task_bucket *bucket = bucket_of(next);
	__u32 cpu = bpf_get_smp_processor_id(), scope_set;
	struct cpu_state *state = bpf_map_lookup_elem(&cpus, &cpu);

	if (!state || !bucket)
		return 0;
	/* Most switches: no session counts the task that goes, nor the one that comes. */
	if (!bucket->nr && !state->scope_set[SCOPE_SET_TASK])
		return 0;
	scope_set = scope_set_in(bucket, next);
	if (state->scope_set[SCOPE_SET_TASK] == scope_set)
		return 0;
	if (state->busy) {
		state->lost++;
		return 0;
	}
	/* For on_cgroup_switch, which alone knows if the cgroup changes. */
	state->fresh_task = next;
	state->fresh[0] = state->scope_set[SCOPE_SET_TASK];
	state->fresh[1] = scope_set;
	barrier();
	state->charged_task = next;
	charge_task(state, cpu, scope_set, true, SAME_CGROUP);
	return 0;
}

/*
 * Charge the task that this CPU runs. Look its scope set up again, as a task walk may have changed
 * it since the switch. Never attached; only BPF_PROG_TEST_RUN runs it.
 *
 * Return: 1 when done; 0: another change is under way. On the caller's own CPU a test run leaves
 * interrupts on, and another test run may come in the interrupt. (Newer kernels skip such an
 * execution and also report 0.)
 */
SEC("raw_tp")
int on_task_sync(void *ctx __attribute__((unused)))
{
	__u32 cpu;
	struct cpu_state *state = begin_sync(&cpu);

	if (!state)
		return 0;
	charge_task(state, cpu, scope_set_of(bpf_get_current_task()), false, 0);
	end_change(state);
	return 1;
}

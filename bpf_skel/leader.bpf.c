// SPDX-License-Identifier: GPL-2.0
/*
 * The leader: the one set of BPF programs and maps of a machine that reads shared events for all
 * runs. Documentation/design.md has the whole picture; util/leader_load.c loads it. One object, in pieces:
 *
 *	leader_events	where the events are
 *	leader_cpu	a CPU: reading its events, changing its state, calling the runs
 *	leader_slices	what a class counted while a CPU ran it
 *	leader_tasks	the class of a task
 *	leader_sync	the rows of whole CPUs; CPUs that come and go
 *	leader_life	fork, exec and end of tasks
 *	leader_mark	walks that change the classes of tasks
 *	leader_serve	followers of other implementations
 *	leader_cgroups	all this for cgroups, loaded when somebody counts them
 *
 * Here is what all of it is found by.
 */
#include "leader_cgroups.bpf.h"
#include "leader_life.bpf.h"
#include "leader_mark.bpf.h"
#include "leader_registry.h"
#include "leader_serve.bpf.h"
#include "leader_sync.bpf.h"
#include "leader_tasks.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* Runs, events, scopes. Key 0. Written by user space under the lock, read by everybody. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct registry);
	__uint(max_entries, 1);
} registry SEC(".maps");

/*
 * Where the events of an attr are, for leaders of other layouts. Frozen: key and value never
 * change. Written by user space under the lock, read by user space.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct attr_key);
	__type(value, struct shared_event);
	__uint(max_entries, MAX_EVENTS);
} perf_shared_v0 SEC(".maps");

/*
 * The program that the attr map's entries lead to, through its link. While tasks are counted, a
 * link of its own attaches it to sched_switch; the one that is found hangs on a tracepoint that
 * practically never fires. It must not load from its context: a raw_tp program that does cannot
 * be test-run without one, as followers of other implementations do. In a test run the next task
 * is the current one, which is never so at a switch.
 */
SEC("raw_tp")
int on_switch(void *ctx __attribute__((unused)))
{
	__u32 cpu = bpf_get_smp_processor_id(), class;
	struct cpu_state *state = bpf_map_lookup_elem(&cpus, &cpu);
	struct task_struct *current = bpf_get_current_task_btf(), *to = next_task(current);
	__u64 next;

	if (!state)
		return 0;
	if ((to == current || (state->mode & (MODE_SERVE | MODE_TASKS)) != MODE_TASKS) &&
	    !do_others(state, cpu, to != current))
		return 0;
	next = address_of(to, &state->next);
	class = class_of(next);
	if (state->class[OF_TASK] == class)
		return 0;
	if (state->busy) {
		state->lost++;
		return 0;
	}
	/* Whether it is to another cgroup is not known here. */
	state->fresh_task = next;
	state->fresh[0] = state->class[OF_TASK];
	state->fresh[1] = class;
	charge(state, cpu, OF_TASK, state->class[OF_TASK], class, true, SAME_CGROUP);
	return 0;
}

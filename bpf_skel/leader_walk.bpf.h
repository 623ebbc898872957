/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_WALK_H
#define PERF_BPF_LEADER_WALK_H

/* Part of leader_tasks.bpf.c, not a header: task walks, which change scope sets of running tasks. */
#include "kernel_types.bpf.h"
#include "leader_calls.h"
#include "leader_tasks.bpf.h"

/* The request to on_walk, and its answer. Key 0. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct walk_request);
	__uint(max_entries, 1);
} walk SEC(".maps");

/*
 * Old scope set -> new scope set. User space writes it between two walks; on_walk marks the scope
 * sets that lack one.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32); /* the old scope set, halved */
	__type(value, struct transition_pair);
	__uint(max_entries, MAX_SCOPE_SETS / 2);
} transitions SEC(".maps");

/* Count an entry that could not be created, by the error of the update. */
static __always_inline void note_failure(struct walk_request *request, long err)
{
	request->failed++;
	if (err == -12) /* ENOMEM */
		request->no_memory++;
}

struct bpf_iter__task {
	void *meta;
	struct task_struct *task;
};

/*
 * Return: true if the walk changes this task. It reads by helper, not through typed pointers. For
 * each of these the verifier would search the kernel's types by name (Linux 6.12: 5 million
 * instructions each time). Walks can afford the helper.
 */
static __always_inline bool is_looked_for(const struct walk_request *request,
					  struct task_struct *task)
{
	/* Already released: on_free may have deleted its entry before us. */
	if (!BPF_CORE_READ(task, thread_pid))
		return false;
	switch (request->kind) {
	case WALK_PROCESS:
		return BPF_CORE_READ(task, tgid) == (int)request->nr;
	case WALK_THREAD:
		return BPF_CORE_READ(task, pid) == (int)request->nr;
	default:
		return true;
	}
}

/*
 * Apply the table's transition to one half of an entry. Not static, so that the verifier walks it once, and not
 * for each half. Return: the new scope set; -1: it lacks a transition.
 */
__attribute__((noinline)) int step(struct walk_request *request, __u32 scope_set)
{
	/* A session that died during a walk may have left a number that names no scope set. */
	__u32 from = scope_set < MAX_SCOPE_SETS ? scope_set : 0;
	__u32 pair_idx = from / 2;
	struct transition_pair *pair = bpf_map_lookup_elem(&transitions, &pair_idx);
	struct transition *transition;

	if (!pair || !request)
		return -1;
	transition = &pair->of[from % 2];
	if (transition->op == request->op && transition->to != TO_WANTED)
		return transition->to;
	/* When a scope ends, only scope sets that contain it have a transition. */
	if (request->kind == WALK_ALL)
		return scope_set;
	transition->to = TO_WANTED;
	transition->op = request->op;
	request->unknown++;
	return -1;
}

static __always_inline bool is_exiting(struct task_struct *task)
{
	return BPF_CORE_READ(task, flags) & PF_EXITING;
}

/* Note the CPU that runs a requested task: it may charge another scope set until user space syncs it. */
static __always_inline void note_cpu(const struct walk_request *request, struct task_struct *task,
				     __u64 address)
{
	__u32 cpu = cpu_that_runs(task, address);
	struct cpu_state *state = bpf_map_lookup_elem(&cpus, &cpu);

	if (state)
		state->walk_round = request->round;
}

/*
 * Change the scope sets of the requested tasks, in one walk. The walk reports scope sets without a
 * transition and leaves them alone; user space adds the transition and walks again.
 */
SEC(SECTION_WALK_TASK)
int on_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct walk_request *request;
	__u64 key, *entry, value = 0;
	__u32 zero = 0;
	int now, after;
	long err;

	if (!task)
		return 0;
	request = bpf_map_lookup_elem(&walk, &zero);
	if (!request || !is_looked_for(request, task))
		return 0;
	request->seen++;
	request->process_nr = BPF_CORE_READ(task, tgid);
	request->nr_threads = BPF_CORE_READ(task, signal, nr_threads);
	/* It gets its scope set from its parent when it is woken. */
	if (BPF_CORE_READ(task, __state) == TASK_NEW) {
		request->task_new++;
		return 0;
	}
	key = address_of(task, &request->task);
	if (request->kind != WALK_ALL)
		note_cpu(request, task, key);
	entry = find_task(key);
	if (entry)
		value = *entry;
	/* Otherwise an earlier task at this address has left it, whose release no program saw. */
	if (value & TASK_ENDED && is_exiting(task))
		return 0;
	now = TASK_SCOPE_SET(value);
	after = TASK_AFTER_EXEC(value);
	/*
	 * The scope set after exec always changes with the one of now, even if both are the same.
	 */
	after = step(request, after);
	if (after < 0)
		return 0;
	if (request->when == WALK_NOW)
		now = step(request, now);
	if (now < 0)
		return 0;
	if (TASK_ENTRY(now, after) == value)
		return 0;
	request->changed++;
	/* If this loses a race, the next walk retries. A full table stays full. */
	if (entry) {
		replace(entry, value, TASK_ENTRY(now, after));
		/* It ended meanwhile, and the program took the earlier task's entry for its own. */
		if (value & TASK_ENDED && is_exiting(task))
			set(entry, TASK_ENDED);
		return 0;
	}
	err = insert_task(key, TASK_ENTRY(now, after));
	if (err && !find_task(key))
		note_failure(request, err);
	return 0;
}

#endif

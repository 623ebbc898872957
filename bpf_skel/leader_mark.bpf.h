/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_MARK_H
#define PERF_BPF_LEADER_MARK_H

/* Marking: a walk that changes the classes of tasks that run. */
#include "leader_tasks.bpf.h"

/* What on_mark is to do, and what it found. Key 0. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct mark_request);
	__uint(max_entries, 1);
} marking SEC(".maps");

/* The class that a task of a class gets. Written by user space before on_mark follows it. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct transition);
	__type(value, __u32);
	__uint(max_entries, MAX_TRANSITIONS);
} transitions SEC(".maps");

/* Classes that on_mark met and found no transition for. Emptied by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, FOR_JOINING(MAX_CLASSES));
} wanted SEC(".maps");

struct bpf_iter__task {
	void *meta;
	struct task_struct *task;
};

/*
 * Read by helper, not through typed pointers: for each of these the verifier would search the
 * kernel's types by name (6.12: 5 million instructions a time). Walks can afford the helper.
 */
static __always_inline bool is_looked_for(const struct mark_request *request, struct task_struct *task)
{
	/* Released already: the callback that deletes entries could have been before us. */
	if (!BPF_CORE_READ(task, thread_pid))
		return false;
	switch (request->kind) {
	case MARK_PROCESS:
		return BPF_CORE_READ(task, tgid) == (int)request->nr;
	case MARK_THREAD:
		return BPF_CORE_READ(task, pid) == (int)request->nr;
	default:
		return true;
	}
}

/* One half of an entry takes the step that the table has for it. */
static __always_inline bool step(struct mark_request *request, __u32 *class)
{
	struct transition key = { .op = request->op, .from = *class };
	__u32 *to = bpf_map_lookup_elem(&transitions, &key);

	if (to) {
		*class = *to;
		return true;
	}
	/* A scope that ends concerns only the classes that contain it. */
	if (request->kind == MARK_ALL)
		return true;
	bpf_map_update_elem(&wanted, class, class, BPF_ANY);
	request->unknown++;
	return false;
}

/*
 * Change the classes of the tasks that the request names: one walk. Classes that the table does
 * not know are reported and left alone; user space fills the table and walks again.
 */
SEC("iter/task")
int on_mark(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct mark_request *request;
	__u64 key, *entry, value = 0;
	__u32 zero = 0, now, after;

	if (!task)
		return 0;
	request = bpf_map_lookup_elem(&marking, &zero);
	if (!request || !is_looked_for(request, task))
		return 0;
	request->seen++;
	request->process_nr = BPF_CORE_READ(task, tgid);
	request->nr_threads = BPF_CORE_READ(task, signal, nr_threads);
	/* Its class is what its parent leaves it when it is woken. */
	if (BPF_CORE_READ(task, __state) == TASK_NEW) {
		request->unborn++;
		return 0;
	}
	key = address_of(task, &request->task);
	entry = find_task(key);
	if (entry)
		value = *entry;
	if (value & TASK_ENDED)
		return 0;
	now = TASK_CLASS(value);
	after = TASK_AFTER_EXEC(value);
	/* What a task is after an exec changes with what it is now, also where both are the same. */
	if (!step(request, &after))
		return 0;
	if (request->when == MARK_NOW && !step(request, &now))
		return 0;
	if (TASK_ENTRY(now, after) == value)
		return 0;
	request->changed++;
	if (entry ? replace(entry, value, TASK_ENTRY(now, after)) :
		    insert_task(key, TASK_ENTRY(now, after)))
		return 0;
	/* Somebody was faster; the next walk sees what it is now. A full table stays full. */
	if (!entry && !find_task(key))
		request->failed++;
	return 0;
}

#endif

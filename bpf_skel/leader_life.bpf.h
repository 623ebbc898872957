/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_LIFE_H
#define PERF_BPF_LEADER_LIFE_H

/* Part of leader_tasks.bpf.c, not a header: following a task's fork, exec and end. */
#include <linux/bpf.h>

#include "leader_tasks.bpf.h"

static __always_inline __u32 child_scope_set(__u32 scope_set)
{
	struct reg_scope_set *entry = bpf_map_lookup_elem(&scope_sets, &scope_set);

	return entry ? entry->child : 0;
}

/* Note that a scope missed a new task: the scope set's own. The next call is for its parent. */
static long miss_in_scope(__u32 idx __attribute__((unused)), __u32 *at)
{
	__u32 scope_set = *at, zero = 0;
	struct reg_scope_set *entry =
		scope_set ? bpf_map_lookup_elem(&scope_sets, &scope_set) : NULL;
	struct registry *reg = bpf_map_lookup_elem(&registry, &zero);

	if (!entry || !reg)
		return 1;
	if (entry->scope < MAX_SCOPES)
		__sync_fetch_and_add(&reg->scope[entry->scope].missed, 1);
	*at = entry->parent;
	return 0;
}

/*
 * Give a child the scope set that its parent's scope set leaves to children. If the child already
 * has an entry, its memory was another task's, and no program saw the release. Or a walk on
 * another CPU was faster, and will be repeated (task_walk__assign()).
 */
SEC("raw_tp/sched_wakeup_new")
int on_newtask(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 child = ctx->args[0], value = 0, *entry;
	__u32 scope_set;

	entry = find_task(bpf_get_current_task());
	if (entry) {
		value = *entry;
		value = TASK_ENTRY(child_scope_set(TASK_SCOPE_SET(value)),
				   child_scope_set(TASK_AFTER_EXEC(value)));
	}
	entry = find_task(child);
	if (!entry) {
		if (!value)
			return 0;
		insert_task(child, value);
		entry = find_task(child);
		if (!entry) {
			/* Each scope that counts a task now also counts it after its exec. */
			scope_set = TASK_AFTER_EXEC(value);
			bpf_loop(MAX_SCOPES, miss_in_scope, &scope_set, 0);
		}
	}
	if (entry && *entry != value)
		set(entry, value);
	return 0;
}

/* One try to let a task have its scope set after exec. Return: 1 to end the tries. */
static long try_exec(__u32 i __attribute__((unused)), __u64 **at)
{
	__u64 *entry = *at, value = *entry;
	__u32 after = TASK_AFTER_EXEC(value);

	return after == TASK_SCOPE_SET(value) || replace(entry, value, TASK_ENTRY(after, after));
}

/* Walks on other CPUs rarely change an entry, and never so often. */
#define CHANGE_TRIES 8

/*
 * Switch a command to its scope set after exec. perf_event_exec() starts events that wait for an
 * exec, and right after it the task gets its new name (begin_new_exec(), Linux 5.10 to 7).
 */
SEC(SECTION_TRACEPOINT)
int on_rename(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 task = bpf_get_current_task(), *entry;

	if (ctx->args[0] != task)
		return 0;
	entry = find_task(task);
	if (!entry || TASK_AFTER_EXEC(*entry) == TASK_SCOPE_SET(*entry))
		return 0;
	bpf_loop(CHANGE_TRIES, try_exec, &entry, 0);
	change_running();
	return 0;
}

static __always_inline int end_task(void)
{
	__u64 *entry = find_task(bpf_get_current_task());

	if (!entry || *entry & TASK_ENDED)
		return 0;
	set(entry, TASK_ENDED);
	end_running();
	return 0;
}

/* The function where plain perf events of a task end. */
SEC("?" SECTION_KPROBE)
int on_exit_event(void *ctx __attribute__((unused)))
{
	return end_task();
}

/* Fallback without kprobes: slightly earlier than perf_event_exit_task(). */
SEC("?" SECTION_TRACEPOINT)
int on_exit(void *ctx __attribute__((unused)))
{
	return end_task();
}

SEC("raw_tp/sched_process_free")
int on_free(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 task = ctx->args[0];
	struct task_bucket *bucket = bucket_of(task);

	if (!bucket || !bucket->nr)
		return 0;
	if (bucket->task == task) {
		/*
		 * Empty it first: a reader that sees the next task's address early finds it
		 * uncounted.
		 */
		add_members(__sync_lock_test_and_set(&bucket->entry, 0), -1);
		__sync_lock_test_and_set(&bucket->task, 0);
		__sync_fetch_and_add(&bucket->nr, -1);
	}
	if (bucket->nr)
		drop_entry(bucket, task);
	return 0;
}

#endif

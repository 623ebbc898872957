/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_LIFE_H
#define PERF_BPF_LEADER_LIFE_H

/* A task's life: fork, exec and end. */
#include "leader_tasks.bpf.h"

static __always_inline __u32 child_class(__u32 class)
{
	struct reg_class *entry = bpf_map_lookup_elem(&classes, &class);

	return entry ? entry->child : 0;
}

/*
 * A child gets the class that its parent's class leaves to children. Where it has an entry already, its
 * memory was another task's, whose release nobody saw; or a walk on another CPU was faster than we, and
 * will come by again (leader_marks__mark()).
 */
SEC("raw_tp/sched_wakeup_new")
int on_newtask(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 child = ctx->args[0], value = 0, *entry;

	entry = find_task(bpf_get_current_task());
	if (entry) {
		value = *entry;
		value = TASK_ENTRY(child_class(TASK_CLASS(value)),
				   child_class(TASK_AFTER_EXEC(value)));
	}
	entry = find_task(child);
	if (!entry) {
		if (!value)
			return 0;
		insert_task(child, value);
		entry = find_task(child);
		if (!entry)
			count_failed_insert();
	}
	for (int i = 0; entry && i < 8; i++) {
		if (*entry == value || replace(entry, *entry, value))
			return 0;
	}
	return 0;
}

/*
 * perf_event_exec() starts events that wait for an exec, and right behind it the task gets its new
 * name (begin_new_exec(), 5.10 to 7): what a command's class is after exec holds from here on.
 */
SEC("raw_tp/task_rename")
int on_rename(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 task = bpf_get_current_task(), *entry, value;

	if (ctx->args[0] != task)
		return 0;
	entry = find_task(task);
	if (!entry)
		return 0;
	for (int i = 0; i < 8; i++) {
		value = *entry;
		if (TASK_AFTER_EXEC(value) == TASK_CLASS(value))
			return 0;
		if (replace(entry, value,
			    TASK_ENTRY(TASK_AFTER_EXEC(value), TASK_AFTER_EXEC(value))))
			break;
	}
	change_running();
	return 0;
}

static __always_inline int end_task(void)
{
	__u64 *entry = find_task(bpf_get_current_task()), value;

	if (!entry)
		return 0;
	for (int i = 0; i < 8; i++) {
		value = *entry;
		if (value & TASK_ENDED)
			return 0;
		if (replace(entry, value, TASK_ENDED))
			break;
	}
	change_running();
	return 0;
}

/* Where plain perf events of a task end. */
SEC("?kprobe/perf_event_exit_task")
int on_exit_event(void *ctx __attribute__((unused)))
{
	return end_task();
}

/* Near it, on kernels that allow no kprobe there. */
SEC("?raw_tp/sched_process_exit")
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
		/* Emptied first: who sees the next one's address too early finds it uncounted. */
		add_members(__sync_lock_test_and_set(&bucket->entry, 0), -1);
		__sync_lock_test_and_set(&bucket->task, 0);
		__sync_fetch_and_add(&bucket->nr, -1);
	}
	if (bucket->nr)
		drop_entry(bucket, task);
	return 0;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_TASKS_H
#define PERF_BPF_LEADER_TASKS_H

/* Which tasks are counted, and in which class. */
#include "kernel_types.bpf.h"
#include "leader_slices.bpf.h"

/*
 * The tasks that are counted, by the address of their task_struct. A tid would be no identity: it
 * is free before the last switch, and exec by a thread swaps two tasks' tids. Each bucket holds one
 * task itself and the number of all, so that most tasks, counted or not, cost one look; the others
 * are in `tasks`. Entered by on_mark and on_newtask, changed in place (an update of a hash element
 * would recycle the old one at once, under the eyes of another CPU), deleted at sched_process_free:
 * after the last switch, before the memory is reused.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct task_bucket);
	__uint(max_entries, 1 << BUCKET_BITS);
} buckets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u64);
	__uint(max_entries, MAX_TASKS);
} tasks SEC(".maps");

/* What went wrong, whichever program it was. Key 0. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct leader_counts);
	__uint(max_entries, 1);
} counts SEC(".maps");

static __always_inline void count_failed_insert(void)
{
	__u32 zero = 0;
	struct leader_counts *all = bpf_map_lookup_elem(&counts, &zero);

	if (all)
		__sync_fetch_and_add(&all->failed_inserts, 1);
}

static __always_inline struct task_bucket *bucket_of(__u64 task)
{
	__u32 idx = task * 0x9e3779b97f4a7c15ULL >> (64 - BUCKET_BITS);

	return bpf_map_lookup_elem(&buckets, &idx);
}

/* As a number: the verifier does not let a pointer be hashed, but forgets what went through memory. */
static __always_inline __u64 address_of(struct task_struct *task, __u64 *scratch)
{
	*scratch = (__u64)task;
	barrier();
	return *(volatile __u64 *)scratch;
}

static __always_inline __u64 *look_up(__u64 task)
{
	struct task_bucket *bucket = bucket_of(task);

	/* The number alone says that it is nowhere: number and address together are never of one time. */
	if (!bucket || !bucket->nr)
		return NULL;
	if (bucket->task == task)
		return &bucket->entry;
	return bpf_map_lookup_elem(&tasks, &task);
}

/* The entry of a task; NULL: nobody counts it. */
static __always_inline __u64 *find_task(__u64 task)
{
	__u64 *entry = look_up(task);

	/* Or the compiler keeps only how it became NULL, and the verifier cannot follow. */
	barrier_var(entry);
	return entry;
}

static __always_inline __u32 class_of(__u64 task)
{
	__u64 *entry = find_task(task);

	return entry ? TASK_CLASS(*entry) : 0;
}

static __always_inline void add_member(__u32 class, long nr)
{
	struct reg_class *entry;

	if (!class)
		return;
	entry = bpf_map_lookup_elem(&classes, &class);
	if (entry)
		__sync_fetch_and_add(&entry->members, nr);
}

/*
 * Count a task in its classes, or out of them; the one that it only gets at its exec must not be
 * given away before. Not static: so the verifier walks it once, not once for each way here.
 */
__attribute__((noinline)) int add_members(__u64 value, long nr)
{
	add_member(TASK_CLASS(value), nr);
	add_member(TASK_AFTER_EXEC(value), nr);
	return 0;
}

/* Change an entry, unless it did change since it was read. */
static __always_inline bool replace(__u64 *entry, __u64 old, __u64 new)
{
	bool is_done;

	/* First the new ones: there is no moment in which nobody seems to be in them. */
	add_members(new, 1);
	is_done = __sync_val_compare_and_swap(entry, old, new) == old;
	add_members(is_done ? old : new, -1);
	return is_done;
}

/* Take a task out of `tasks`. Emptied first: a delete can be refused (-EBUSY before 6.6). */
static __always_inline void drop_entry(struct task_bucket *bucket, __u64 task)
{
	__u64 *entry = bpf_map_lookup_elem(&tasks, &task);

	if (!entry)
		return;
	add_members(__sync_lock_test_and_set(entry, 0), -1);
	if (!bpf_map_delete_elem(&tasks, &task))
		__sync_fetch_and_add(&bucket->nr, -1);
}

/*
 * Enter a task that was not found; false: it is there by now, or the table is full. A walk and a
 * fork can enter the same task at the same time, one in the bucket, the other in `tasks`: each looks
 * at the other's place after it wrote its own, so that one of them sees both.
 */
static __always_inline bool insert_task(__u64 task, __u64 value)
{
	struct task_bucket *bucket = bucket_of(task);

	if (!bucket)
		return false;
	/* First the number: whoever could see the entry must look for it. */
	__sync_fetch_and_add(&bucket->nr, 1);
	if (__sync_val_compare_and_swap(&bucket->task, 0, 1) == 0) {
		add_members(value, 1);
		bucket->entry = value;
		/* A full barrier: the entry is there before the address. */
		__sync_lock_test_and_set(&bucket->task, task);
		if (bucket->nr > 1)
			drop_entry(bucket, task);
		return true;
	}
	if (bpf_map_update_elem(&tasks, &task, &value, BPF_NOEXIST)) {
		__sync_fetch_and_add(&bucket->nr, -1);
		return false;
	}
	add_members(value, 1);
	if (__sync_val_compare_and_swap(&bucket->task, task, task) != task)
		return true;
	drop_entry(bucket, task);
	return false;
}

/*
 * The class of the current task has changed while it runs: end the slice, begin another. It is
 * looked up while the CPU is busy: a sync in between, after yet another change, would be undone. The
 * kernels that can preempt us here (tracepoints since 7.x) have the means to forbid it; the others
 * keep preemption off. A sync may interrupt: the busy word makes it try again.
 */
static __always_inline void change_running(void)
{
	unsigned long irq_flags;
	__u32 cpu, class;
	struct cpu_state *state = seize_cpu(&cpu, &irq_flags);

	if (state) {
		class = class_of(bpf_get_current_task());
		if (state->class[OF_TASK] != class)
			charge(state, cpu, OF_TASK, state->class[OF_TASK], class, false, 0);
	}
	release_cpu(state, &irq_flags);
}

#endif

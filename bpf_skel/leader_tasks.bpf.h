/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_LEADER_TASKS_H
#define PERF_BPF_LEADER_TASKS_H

/* Part of leader_tasks.bpf.c, not a header: the tables of counted tasks, with their scope sets. */
#include "leader_irq.bpf.h"
#include "leader_slices.bpf.h"

/*
 * Counted tasks, by the address of their task_struct. A tid would not identify a task: it is free
 * before the last switch, and an exec by a thread swaps two tasks' tids. Each bucket holds one
 * task itself, and the number of all its tasks. So most tasks, counted or not, cost one lookup;
 * the others are in `tasks`.
 *
 * on_walk and on_newtask create entries. Programs change them in place, as an update of a hash
 * element would recycle the old one while another CPU reads it. on_free deletes them at
 * sched_process_free: after the last switch, and before the memory is reused.
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

static __always_inline struct task_bucket *bucket_of(__u64 task)
{
	/*
	 * Six low bits of addresses are equal, so 26 of the product matter: this is 0.618 of 2^26, and odd.
	 * Constants and numbers of 32 bits take fewer steps.
	 */
	__u32 idx = (__u32)task * 0x278dde7U >> (32 - BUCKET_BITS);

	return bpf_map_lookup_elem(&buckets, &idx);
}

static __always_inline __u64 *look_up(struct task_bucket *bucket, __u64 task)
{
	/* Only nr shows that the task is nowhere: nr and address are never of the same moment. */
	if (!bucket || !bucket->nr)
		return NULL;
	if (bucket->task == task)
		return &bucket->entry;
	return bpf_map_lookup_elem(&tasks, &task);
}

/* Return: the entry of a task whose bucket this is; NULL: no session counts it. */
static __always_inline __u64 *find_in(struct task_bucket *bucket, __u64 task)
{
	__u64 *entry = look_up(bucket, task);

	/* Otherwise the compiler keeps only the reason for NULL, and the verifier cannot follow. */
	barrier_var(entry);
	return entry;
}

static __always_inline __u64 *find_task(__u64 task)
{
	return find_in(bucket_of(task), task);
}

static __always_inline __u32 scope_set_in(struct task_bucket *bucket, __u64 task)
{
	__u64 *entry = find_in(bucket, task);

	return entry ? TASK_SCOPE_SET(*entry) : 0;
}

static __always_inline __u32 scope_set_of(__u64 task)
{
	return scope_set_in(bucket_of(task), task);
}

static __always_inline void add_member(__u32 scope_set, int nr)
{
	struct reg_scope_set *entry;

	if (!scope_set)
		return;
	entry = bpf_map_lookup_elem(&scope_sets, &scope_set);
	if (entry)
		__sync_fetch_and_add(&entry->members, nr);
}

/*
 * Add a task to the members of its scope sets, or remove it. The scope set that it gets at its
 * exec must also stay until then. Not static, so that the verifier walks it once, and not for each
 * way here.
 */
__attribute__((noinline)) int add_members(__u64 value, int nr)
{
	add_member(TASK_SCOPE_SET(value), nr);
	add_member(TASK_AFTER_EXEC(value), nr);
	return 0;
}

/* Change an entry, unless it has changed since it was read. */
static __always_inline bool replace(__u64 *entry, __u64 old, __u64 new)
{
	bool is_done;

	/* Add to the new ones first, so that they never seem empty. */
	add_members(new, 1);
	is_done = __sync_val_compare_and_swap(entry, old, new) == old;
	add_members(is_done ? old : new, -1);
	return is_done;
}

/* Change an entry, whatever it has become by now. */
static __always_inline void set(__u64 *entry, __u64 new)
{
	add_members(new, 1);
	add_members(__sync_lock_test_and_set(entry, new), -1);
}

/*
 * Remove a task from `tasks`. Empty the entry first: the delete can fail (-EBUSY before Linux
 * 6.6). Not static, as add_members().
 */
__attribute__((noinline)) int drop_entry(struct task_bucket *bucket, __u64 task)
{
	__u64 *entry = bpf_map_lookup_elem(&tasks, &task);

	if (!entry || !bucket)
		return 0;
	add_members(__sync_lock_test_and_set(entry, 0), -1);
	if (!bpf_map_delete_elem(&tasks, &task))
		__sync_fetch_and_add(&bucket->nr, -1);
	return 0;
}

/*
 * Enter a task that was not found. A walk and a fork can enter the same task at the same time, one
 * in the bucket, the other in `tasks`. Each looks at the other's place after it wrote its own, so
 * that one of them sees both.
 *
 * Return: 0, or the error of the update: the task is there by now, or the table is full. Or the
 * memory cgroup is full that pays for entries: that of the session that loaded the leader.
 */
static __always_inline long insert_task(__u64 task, __u64 value)
{
	struct task_bucket *bucket = bucket_of(task);
	long err;

	if (!bucket)
		return 0;
	/* Increment nr first: a CPU that could see the entry must look for it. */
	__sync_fetch_and_add(&bucket->nr, 1);
	if (__sync_val_compare_and_swap(&bucket->task, 0, 1) == 0) {
		add_members(value, 1);
		bucket->entry = value;
		/* A full barrier: the entry is visible before the address. */
		__sync_lock_test_and_set(&bucket->task, task);
		if (bucket->nr > 1)
			drop_entry(bucket, task);
		return 0;
	}
	err = bpf_map_update_elem(&tasks, &task, &value, BPF_NOEXIST);
	if (err) {
		__sync_fetch_and_add(&bucket->nr, -1);
		return err;
	}
	add_members(value, 1);
	if (__sync_val_compare_and_swap(&bucket->task, task, task) == task)
		drop_entry(bucket, task);
	return 0;
}

/*
 * End the slice and begin another, after the current task's scope set has changed. Look the scope
 * set up while the CPU is busy. Otherwise this would undo a sync that came in between, after yet
 * another change. seize_cpu() forbids preemption. A sync may interrupt this: the busy word makes
 * it try again.
 */
static __always_inline void change_running(void)
{
	unsigned long irq_flags;
	__u32 cpu, scope_set;
	struct cpu_state *state = seize_cpu(&cpu, &irq_flags);

	if (state) {
		scope_set = scope_set_of(bpf_get_current_task());
		if (state->scope_set[SCOPE_SET_TASK] != scope_set)
			charge_task(state, cpu, scope_set, false, 0);
	}
	release_cpu(state, &irq_flags);
}

/*
 * The same after the current task has ended: no session counts it, and no walk enters it again. With no events
 * that begin, the verifier has less to walk.
 */
static __always_inline void end_running(void)
{
	unsigned long irq_flags;
	__u32 cpu;
	struct cpu_state *state = seize_cpu(&cpu, &irq_flags);

	if (state && state->scope_set[SCOPE_SET_TASK])
		charge_task(state, cpu, 0, false, 0);
	release_cpu(state, &irq_flags);
}

#endif

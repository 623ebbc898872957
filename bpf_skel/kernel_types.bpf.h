/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_KERNEL_TYPES_H
#define PERF_BPF_KERNEL_TYPES_H

/*
 * The kernel's types, as far as our programs read them.
 *
 * The loader finds the offset of each field at load (CO-RE). For each type here it searches all of
 * the kernel's types, some 5 million instructions, so there are few. The functions below hide
 * differences between kernels.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pid;
struct task_struct;

struct rq {
	struct task_struct *curr;
	int cpu; /* CONFIG_SMP */
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	struct cfs_rq *cfs_rq; /* CONFIG_FAIR_GROUP_SCHED */
};

struct kernfs_node {
	__u64 id;	  /* never used twice */
	const char *name; /* the last part of its path */
};

struct cgroup_subsys_state;

struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_subsys_state *subsys[16]; /* NULL: another hierarchy has the controller */
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent; /* that of the cgroup above; NULL: this is the root's */
};

struct css_set {
	struct cgroup_subsys_state *subsys[16]; /* by enum cgroup_subsys_id */
	struct cgroup *dfl_cgrp;		/* of cgroup v2 */
};

struct signal_struct {
	int nr_threads;
};

struct task_struct {
	unsigned int __state;
	unsigned int flags;
	struct sched_entity se;
	int pid;
	int tgid;
	struct pid *thread_pid;	      /* NULL after its release */
	struct signal_struct *signal; /* of the process */
	struct css_set *cgroups;
};

#pragma clang attribute pop

#define TASK_NEW   0x800 /* task_struct.__state from fork to wake_up_new_task() */
#define PF_EXITING 0x4	 /* task_struct.flags before perf_event_exit_task() and later */

/*
 * Return: at sched_switch the task that this CPU is about to run; at any other time the current
 * one. The program must not load from its context, so read the run queue: the kernel sets curr
 * before the tracepoint (__schedule(), Linux 5.10 to 7). The run queue itself (`runqueues`) is a
 * symbol only with CONFIG_KALLSYMS_ALL, and programs that name it do not load without that. Each
 * task's se.cfs_rq also leads there (CONFIG_FAIR_GROUP_SCHED).
 */
static __always_inline struct task_struct *next_task(struct task_struct *current)
{
	return current->se.cfs_rq->rq->curr;
}

/*
 * Return: the CPU that runs a task now, -1: none. For a task that a CPU has begun to run this is so before
 * the tracepoint of that switch. (on_cpu is set only after it.)
 */
static __always_inline int cpu_that_runs(struct task_struct *task, __u64 address)
{
	struct rq *rq = BPF_CORE_READ(task, se.cfs_rq, rq);

	if (!rq || (__u64)BPF_CORE_READ(rq, curr) != address)
		return -1;
	return bpf_core_field_exists(rq->cpu) ? BPF_CORE_READ(rq, cpu) : 0;
}

/*
 * Return: the address as a number. The verifier refuses to hash a pointer, but forgets the
 * type of a value that went through memory.
 */
static __always_inline __u64 address_of(void *object, __u64 *scratch)
{
	*scratch = (__u64)object;
	barrier();
	return *(volatile __u64 *)scratch;
}

/* Numbers of controllers depend on the kernel's configuration. */
enum cgroup_subsys_id {
	perf_event_cgrp_id = 1,
};

/*
 * Return: the cgroup that plain perf events use: the perf_event controller's. The controller has a
 * hierarchy of cgroup v1 or, implicitly, that of v2.
 */
static __always_inline struct cgroup_subsys_state *cgroup_of(struct task_struct *task)
{
	return task->cgroups
		->subsys[bpf_core_enum_value(enum cgroup_subsys_id, perf_event_cgrp_id)];
}

/* Return: the same of a cgroup, read by helper; NULL: its hierarchy lacks the controller. */
static __always_inline struct cgroup_subsys_state *css_of(struct cgroup *cgroup)
{
	struct cgroup_subsys_state *css = NULL;
	__u32 idx = bpf_core_enum_value(enum cgroup_subsys_id, perf_event_cgrp_id);

	/* A failed read leaves NULL. */
	(void)bpf_probe_read_kernel(&css, sizeof(css),
				    (void *)cgroup + bpf_core_field_offset(struct cgroup, subsys) +
					    idx * sizeof(css));
	return css;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_BPF_KERNEL_TYPES_H
#define PERF_BPF_KERNEL_TYPES_H

/*
 * The kernel's types, as far as our programs read them; where a field really is, is found out at
 * load (CO-RE): the loader searches all of the kernel's types for each one here, some 5 million
 * instructions, so they are few. Differences between kernels stand behind the functions below.
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
};

struct cfs_rq {
	struct rq *rq;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;		/* CONFIG_FAIR_GROUP_SCHED */
};

struct kernfs_node {
	__u64 id;			/* never used twice */
	const char *name;		/* the last part of its path */
};

struct cgroup_subsys_state;

struct cgroup {
	struct kernfs_node *kn;
	struct cgroup_subsys_state *subsys[16];	/* NULL: the hierarchy is not the controller's */
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;	/* of the cgroup above; NULL: the root's */
};

struct css_set {
	struct cgroup_subsys_state *subsys[16];	/* by enum cgroup_subsys_id */
};

struct signal_struct {
	int nr_threads;
};

struct task_struct {
	unsigned int __state;
	struct sched_entity se;
	int pid;
	int tgid;
	struct pid *thread_pid;		/* NULL once it has been released */
	struct signal_struct *signal;	/* of the process */
	struct css_set *cgroups;
};

#pragma clang attribute pop

#define TASK_NEW 0x800		/* task_struct.__state from fork to wake_up_new_task() */

/*
 * The task that this CPU is about to run, at sched_switch; the current one at any other time. The
 * program must not load from its context, so the run queue is asked: its curr is set before the
 * tracepoint (__schedule(), 5.10 to 7). The run queue itself (`runqueues`) is a symbol only where
 * CONFIG_KALLSYMS_ALL is set, and a program that names it loads nowhere else; each task's
 * se.cfs_rq leads there, too (CONFIG_FAIR_GROUP_SCHED).
 */
static __always_inline struct task_struct *next_task(struct task_struct *current)
{
	return current->se.cfs_rq->rq->curr;
}

/* Numbers of controllers differ with the configuration. */
enum cgroup_subsys_id {
	perf_event_cgrp_id = 1,
};

/*
 * The cgroup that plain perf events look at: the perf_event controller's, which has a hierarchy of
 * cgroup v1 or, implicitly, the one of v2.
 */
static __always_inline struct cgroup_subsys_state *cgroup_of(struct task_struct *task)
{
	return task->cgroups->subsys[bpf_core_enum_value(enum cgroup_subsys_id, perf_event_cgrp_id)];
}

/* The same of a cgroup, read by helper; NULL: it is of a hierarchy that the controller is not in. */
static __always_inline struct cgroup_subsys_state *css_of(struct cgroup *cgroup)
{
	struct cgroup_subsys_state *css = NULL;
	__u32 idx = bpf_core_enum_value(enum cgroup_subsys_id, perf_event_cgrp_id);

	bpf_probe_read_kernel(&css, sizeof(css), (void *)cgroup +
			      bpf_core_field_offset(struct cgroup, subsys) + idx * sizeof(css));
	return css;
}

/*
 * Since 6.14 programs can keep interrupts off; the verifier's type for that came with it. Call
 * them only where has_irq_save() says so: elsewhere they have no address.
 */
enum bpf_stack_slot_type___6_14 {
	STACK_IRQ_FLAG = 1,
};

extern void bpf_local_irq_save(unsigned long *flags) __ksym __weak;
extern void bpf_local_irq_restore(unsigned long *flags) __ksym __weak;

static __always_inline bool has_irq_save(void)
{
	return bpf_core_enum_value_exists(enum bpf_stack_slot_type___6_14, STACK_IRQ_FLAG);
}

#endif

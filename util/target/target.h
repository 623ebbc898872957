/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_TARGET_TARGET_H
#define PERF_TARGET_TARGET_H

/* The measured CPUs, tasks or BPF programs, as requested. */

#include <stdbool.h>

/* Validated once by target__validate(), then constant. */
struct target {
	const char *pid_list; /* -p */
	bool may_have_ended;  /* any process of pid_list, since perf listed them (-u): no error */
	const char *tid_list; /* -t */
	const char *cpu_list; /* -C */
	const char *bpf_list; /* -b */
	bool system_wide;     /* -a */
	bool per_thread;      /* --per-thread */
	bool no_inherit;      /* -i */
	char *const *argv;    /* the workload, NULL: none */
	int argc;
};

/** target__has_task() - return true for tasks or a workload, not CPUs or BPF programs */
static inline bool target__has_task(const struct target *t)
{
	return !t->system_wide && !t->cpu_list && !t->bpf_list;
}

/** target__is_attached() - return true for tasks that already exist */
static inline bool target__is_attached(const struct target *t)
{
	return t->pid_list || t->tid_list;
}

/**
 * target__validate() - drop options that others override, with a warning for each
 *
 * A task overrides CPUs. An empty target means the whole system.
 * Return: 0 or -EINVAL after a message.
 */
int target__validate(struct target *target);

#endif

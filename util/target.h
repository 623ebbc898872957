/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_TARGET_H
#define PERF_UTIL_TARGET_H

#include <stdbool.h>

/* What is measured, as asked for; validated once by target__validate(), then constant. */
struct target {
	const char *pid_list;	/* -p */
	const char *tid_list;	/* -t */
	const char *cpu_list;	/* -C */
	const char *bpf_list;	/* -b */
	bool system_wide;	/* -a */
	bool per_thread;	/* --per-thread */
	bool no_inherit;	/* -i */
	char *const *argv;	/* the workload, NULL: none */
	int argc;
};

/** target__has_task() - counts given tasks or a workload, not CPUs or BPF programs on them */
static inline bool target__has_task(const struct target *t)
{
	return !t->system_wide && !t->cpu_list && !t->bpf_list;
}

/** target__is_attached() - counts tasks that exist already */
static inline bool target__is_attached(const struct target *t)
{
	return t->pid_list || t->tid_list;
}

/**
 * target__validate() - settle which switch overrides which, with a warning for each
 *
 * A task overrides CPUs; nothing given at all means the whole system.
 * Return: 0 or -EINVAL after a message.
 */
int target__validate(struct target *target);

#endif

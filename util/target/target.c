// SPDX-License-Identifier: GPL-2.0
#include "util/target/target.h"

#include "util/lib/msg.h"

#include <errno.h>

/* BPF programs run in any task, so -p and -t cannot restrict them; -C can. */
static int validate_progs(struct target *t)
{
	if (t->per_thread) {
		pr_err("-b and --per-thread: BPF programs are not counted by thread (--per-prog)");
		return -EINVAL;
	}
	if (target__is_attached(t))
		pr_hint("-b overrides %s: BPF programs are counted in all tasks\n",
			t->pid_list ? "-p" : "-t");
	t->pid_list = t->tid_list = NULL;
	if (!t->cpu_list)
		t->system_wide = true;
	return 0;
}

int target__validate(struct target *t)
{
	if (t->bpf_list)
		return validate_progs(t);
	if (t->pid_list && t->tid_list) {
		pr_hint("-p overrides -t: only the processes are counted\n");
		t->tid_list = NULL;
	}
	if (target__is_attached(t)) {
		const char *task = t->pid_list ? "-p" : "-t";

		if (t->cpu_list)
			pr_hint("%s overrides -C: tasks are counted on every CPU\n", task);
		if (t->system_wide)
			pr_hint("%s overrides -a: only the tasks are counted\n", task);
		t->cpu_list = NULL;
		t->system_wide = false;
	}
	if (!target__is_attached(t) && !t->cpu_list && !t->argc)
		t->system_wide = true;
	if (t->per_thread && !target__is_attached(t) && !t->system_wide) {
		pr_err("--per-thread needs threads to list: -p, -t or -a");
		return -EINVAL;
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
#include "target.h"

#include "msg.h"

#include <errno.h>

int target__validate(struct target *t)
{
	if (t->pid_list && t->tid_list) {
		pr_text("Warning:\n-p overrides -t: only the processes are counted\n");
		t->tid_list = NULL;
	}
	if (target__is_attached(t)) {
		const char *task = t->pid_list ? "-p" : "-t";

		if (t->cpu_list)
			pr_text("Warning:\n%s overrides -C: tasks are counted on every CPU\n", task);
		if (t->system_wide)
			pr_text("Warning:\n%s overrides -a: only the tasks are counted\n", task);
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

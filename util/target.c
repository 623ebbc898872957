// SPDX-License-Identifier: GPL-2.0
#include "target.h"

#include "msg.h"

#include <errno.h>

int target__validate(struct target *t)
{
	if (t->pid_list && t->tid_list) {
		pr_warn("both -p and -t given: -p overrides -t");
		t->tid_list = NULL;
	}
	if (target__is_attached(t)) {
		const char *task = t->pid_list ? "-p" : "-t";

		if (t->cpu_list)
			pr_warn("both %s and -C given: %s overrides -C", task, task);
		if (t->system_wide)
			pr_warn("both %s and -a given: %s overrides -a", task, task);
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

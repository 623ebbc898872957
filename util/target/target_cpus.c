// SPDX-License-Identifier: GPL-2.0
#include "util/target/target_cpus.h"

#include "util/host/cpumap.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/target/target.h"

#include <errno.h>
#include <string.h>

/* "CPU 8 is offline" or "CPUs 8-11 are offline"; "there is no CPU 8" if none of them is there. */
static char *offline_text(const struct cpumap *offline)
{
	char *list __cleanup(free_ptr) = cpumap__str(offline);
	struct cpumap *present = cpumap__present();
	struct cpumap *both = present ? cpumap__and(offline, present) : NULL;
	bool is_absent = both && !both->nr;

	cpumap__delete(present);
	cpumap__delete(both);
	if (!list)
		return NULL;
	if (is_absent)
		return xasprintf(offline->nr == 1 ? "there is no CPU %s" : "there are no CPUs %s",
				 list);
	return xasprintf(offline->nr == 1 ? "CPU %s is offline" : "CPUs %s are offline", list);
}

int target_cpus__find(const struct target *target, struct cpumap **cpus, char **why)
{
	struct cpumap *online = NULL, *asked = NULL, *both = NULL, *offline = NULL;
	char *online_text __cleanup(free_ptr) = NULL;
	char *what __cleanup(free_ptr) = NULL;
	int err = 0;

	*cpus = NULL;
	*why = NULL;
	if (target__has_task(target))
		return 0;
	online = cpumap__online();
	if (!online) {
		pr_err("cannot tell which CPUs are online: %s", strerror(errno));
		return -ENODEV;
	}
	if (!target->cpu_list) {
		*cpus = online;
		return 0;
	}
	asked = cpumap__parse(target->cpu_list);
	if (!asked) {
		char *reason __cleanup(free_ptr) = cpumap__why_refused(target->cpu_list);

		pr_err("-C %s: %s", shown_arg(target->cpu_list),
		       reason ? reason : strerror(ENOMEM));
		err = -EINVAL;
		goto out;
	}
	both = cpumap__and(asked, online);
	offline = cpumap__minus(asked, online);
	online_text = cpumap__str(online);
	if (!both || !offline || !online_text) {
		pr_err("out of memory");
		err = -ENOMEM;
		goto out;
	}
	what = offline->nr ? offline_text(offline) : NULL;
	if (!both->nr) {
		*why = xasprintf("-C %s: %s (online: %s)", target->cpu_list, what ? what : "none",
				 online_text);
		err = -ENODEV;
		goto out;
	}
	if (what)
		pr_warn("-C %s: %s: skipped (online: %s)", target->cpu_list, what, online_text);
	*cpus = both;
	both = NULL;
out:
	cpumap__delete(online);
	cpumap__delete(asked);
	cpumap__delete(offline);
	cpumap__delete(both);
	return err;
}

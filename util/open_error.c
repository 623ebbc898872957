// SPDX-License-Identifier: GPL-2.0
#include "open_error.h"

#include "cgroup.h"
#include "evsel.h"
#include "msg.h"
#include "perf_event.h"
#include "pmu.h"
#include "target.h"
#include "util.h"

#include <errno.h>
#include <string.h>

/* Whom the kernel lets count this: an administrator, or everybody at a low enough level. */
static char *permission_text(const struct evsel *evsel, const struct target *target)
{
	int level = !target__has_task(target) || target->per_thread ? 0 :
		    evsel->attr.exclude_kernel			   ? 2 : 1;

	/* No level opens other users' tasks to us. */
	return xasprintf("'%s': not permitted: needs CAP_PERFMON or %skernel.perf_event_paranoid <= %d (now %d)",
			 evsel->name, target__is_attached(target) ? "a task of one's own and " : "",
			 level, perf_event__paranoid());
}

/* One line for any errno; NULL: nothing better than the system's own words. */
static char *reason(const struct evsel *evsel, const struct target *target)
{
	const char *pmu = evsel->pmu ? evsel->pmu->name : "the PMU";

	switch (evsel->err) {
	case EACCES:
	case EPERM:
		return permission_text(evsel, target);
	case ENOENT:
		if (evsel->cgroup && cgroup_fs__lacks_controller(evsel->cgroup->dir))
			return xasprintf("cgroup %s: %s", evsel->cgroup->name,
					 CGROUP_FS_ENABLE_TEXT);
		/* fallthrough */
	case EINVAL:
	case ENOSYS:
	case EOPNOTSUPP:
		if (evsel->needs_cpu && evsel->in_progs)
			return xasprintf("'%s': %s counts for several CPUs together: it cannot tell what a BPF program does",
					 evsel->name, pmu);
		if (evsel->needs_cpu && target__has_task(target))
			return xasprintf("'%s': %s cannot count it in per-thread mode, enable system wide with '-a'.",
					 evsel->name, pmu);
		return xasprintf("The %s event is not supported.", evsel->name);
	case ENODEV:
		return xasprintf("'%s': no CPU asked for is one of %s", evsel->name, pmu);
	case ESRCH:
		if (evsel->cgroup)
			return xasprintf("'%s': the cgroup %s has been removed", evsel->name,
					 evsel->cgroup->name);
		return xasprintf("'%s': there is no task to count (it may have ended)", evsel->name);
	case EBUSY:
		return xasprintf("'%s': the counters of %s are in use by an exclusive event",
				 evsel->name, pmu);
	case EMFILE:
		return xasprintf("'%s': too many open files: raise the limit with ulimit -n",
				 evsel->name);
	default:
		return xasprintf("'%s': perf_event_open failed: %s (dmesg may have more)",
				 evsel->name, strerror(evsel->err));
	}
}

static void print_levels(void)
{
	static const char *const levels[] = {
		"  -1: everything is allowed to everybody",
		"   0: no raw and function tracepoints without CAP_PERFMON",
		"   1: nor whole CPUs",
		"   2: nor the kernel's part of one's own tasks",
		" > 2: nothing (where the distribution knows this level)",
	};

	pr_text("kernel.perf_event_paranoid is %d now; its levels, each adding to the one above:\n",
		perf_event__paranoid());
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		pr_text("%s\n", levels[i]);
	pr_text("An administrator can lower it: sysctl kernel.perf_event_paranoid=LEVEL\n");
}

void open_error__print(const struct evsel *evsel, const struct target *target)
{
	char *text __cleanup(free_ptr) = reason(evsel, target);

	if (evsel->err == EACCES)
		pr_text("Access to performance monitoring and observability operations is limited.\n");
	else if (evsel->err == EPERM)
		pr_text("No permission to enable %s event.\n", evsel->name);
	if (text)
		pr_text("%s\n", text);
	if (evsel->err == EACCES || evsel->err == EPERM)
		print_levels();
}

void open_error__warn(const struct evsel *evsel, const struct target *target)
{
	char *text __cleanup(free_ptr) = NULL;

	/* Of the default set only what has a row is missed. */
	if (evsel->is_default && evsel->hidden)
		return;
	text = reason(evsel, target);
	if (text)
		pr_warn("%s", text);
}

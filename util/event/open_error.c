// SPDX-License-Identifier: GPL-2.0
#include "util/event/open_error.h"

#include "util/event/evsel.h"
#include "util/event/pmu.h"
#include "util/host/capability.h"
#include "util/host/perf_event.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/target/cgroup_list.h"
#include "util/target/target.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

/* --- the machine --- */

static long number_of(const char *root, const char *file)
{
	char *path __cleanup(free_ptr) = xasprintf("%s/%s", root, file);
	char *text __cleanup(free_ptr) = path ? read_file_line(path) : NULL;

	return text ? strtol(text, NULL, 10) : -1;
}

/* The NMI watchdog always counts cycles. */
static bool has_nmi_watchdog(void)
{
	return number_of(procfs_root(), "sys/kernel/nmi_watchdog") == 1;
}

static bool is_virtual_machine(void)
{
	static const char *const makers[] = {
		"QEMU", "KVM",	      "VMware",		"VirtualBox",
		"Xen",	"Amazon EC2", "Google Compute", "Microsoft Corporation"};
	char *cpus __cleanup(free_ptr) = xasprintf("%s/cpuinfo", procfs_root());
	char *dmi __cleanup(free_ptr) = xasprintf("%s/class/dmi/id/sys_vendor", sysfs_root());
	char *flags __cleanup(free_ptr) = cpus ? read_file(cpus, NULL) : NULL;
	char *maker __cleanup(free_ptr) = dmi ? read_file_line(dmi) : NULL;

	for (size_t i = 0; maker && i < ARRAY_SIZE(makers); i++) {
		if (!strncmp(maker, makers[i], strlen(makers[i])))
			return true;
	}
	return flags && strstr(flags, " hypervisor");
}

/* --- unsupported events --- */

/* Return: whether an event needs a counter of a core. */
static bool is_core_event(const struct evsel *evsel)
{
	return evsel->attr.type == PERF_TYPE_HARDWARE || evsel->attr.type == PERF_TYPE_HW_CACHE ||
	       evsel->attr.type == PERF_TYPE_RAW;
}

static char *no_pmu(const struct evsel *evsel, const struct target *target __unused)
{
	if (!is_core_event(evsel) || evsel->pmu)
		return NULL;
	return strdup(is_virtual_machine() ?
			      "no PMU: it is a virtual machine, whose host gives it none" :
			      "no PMU that the kernel drives");
}

void open_error__warn_default(const struct evsel *evsel, const struct target *target)
{
	char *cause __cleanup(free_ptr) = no_pmu(evsel, target);

	if (cause)
		pr_warn("hardware events are not counted: %s", cause);
}

static char *too_precise(const struct evsel *evsel, const struct target *target __unused)
{
	int asked = evsel->attr.precise_ip;

	if (!asked)
		return NULL;
	if (evsel->pmu && evsel->pmu->max_precise >= 0 && asked > evsel->pmu->max_precise)
		return xasprintf(
			"precise level %d is asked for, and %s goes up to %d: take away 'p's",
			asked, evsel->pmu->name, evsel->pmu->max_precise);
	return xasprintf("precise level %d is asked for: try without 'p'", asked);
}

static char *not_of_boxes(const struct evsel *evsel, const struct target *target __unused)
{
	if (evsel__has_levels(evsel) ||
	    (!evsel->attr.exclude_user && !evsel->attr.exclude_kernel && !evsel->attr.exclude_hv))
		return NULL;
	return xasprintf("%s cannot tell user from kernel: take away 'u', 'k', 'h'",
			 evsel->pmu->name);
}

/* The first member cannot exceed a group's size. */
static char *too_many_members(const struct evsel *evsel, const struct target *target __unused)
{
	if (evsel->err != EINVAL || evsel__is_leader(evsel) || evsel__is_software(evsel))
		return NULL;
	return xasprintf(
		"member %d of its group, which %s must count all at once: too few counters%s; make groups smaller, or weak (:W)",
		evsel->idx - evsel->leader->idx + 1, evsel->pmu ? evsel->pmu->name : "the PMU",
		has_nmi_watchdog() ?
			", and the NMI watchdog has one (sysctl kernel.nmi_watchdog=0)" :
			"");
}

static char *no_perf_events(const struct evsel *evsel, const struct target *target __unused)
{
	return evsel->err == ENOSYS ?
		       strdup("this kernel has no perf events (CONFIG_PERF_EVENTS)") :
		       NULL;
}

/* The first match decides: missing features before excessive requests. */
static char *(*const causes[])(const struct evsel *evsel, const struct target *target) = {
	no_perf_events, no_pmu, not_of_boxes, too_precise, too_many_members,
};

static char *unsupported_text(const struct evsel *evsel, const struct target *target)
{
	char *cause __cleanup(free_ptr) = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(causes) && !cause; i++)
		cause = causes[i](evsel, target);
	return cause ? xasprintf("The %s event is not supported: %s", evsel->name, cause) :
		       xasprintf("The %s event is not supported.", evsel->name);
}

/* --- other errors --- */

/* Return: the privileges that the event needs. */
static char *permission_text(const struct evsel *evsel, const struct target *target)
{
	int level = !target__has_task(target) || target->per_thread ? 0 :
		    evsel->attr.exclude_kernel			    ? 2 :
								      1;

	if (capability__may_count())
		return xasprintf(
			"'%s': not permitted, although CAP_PERFMON is there: the kernel, a security module or a container's seccomp filter forbids this event",
			evsel->name);
	/* No paranoid level permits other users' tasks. */
	return xasprintf(
		"'%s': not permitted: needs CAP_PERFMON or %skernel.perf_event_paranoid <= %d (now %d)",
		evsel->name, target__is_attached(target) ? "a task of one's own and " : "", level,
		perf_event__paranoid());
}

/* Return: one line for an errno; NULL: strerror() is as good. */
static char *reason(const struct evsel *evsel, const struct target *target)
{
	const char *pmu = evsel->pmu ? evsel->pmu->name : "the PMU";

	if (evsel->is_latency)
		return xasprintf(
			"'%s': a retirement latency (R) comes from samples, which perf does not take",
			evsel->name);
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
			return xasprintf(
				"'%s': %s counts for several CPUs together: it cannot tell what a BPF program does",
				evsel->name, pmu);
		if (evsel->needs_cpu && target__has_task(target))
			return xasprintf(
				"'%s': %s cannot count it in per-thread mode, enable system wide with '-a'.",
				evsel->name, pmu);
		return unsupported_text(evsel, target);
	case ENODEV:
		return xasprintf("'%s': no CPU asked for is one of %s", evsel->name,
				 evsel__cpus_owner(evsel));
	case E2BIG:
		return xasprintf("'%s': this kernel is too old for its config3 or config4",
				 evsel->name);
	case ESRCH:
		if (evsel->cgroup)
			return xasprintf("'%s': the cgroup %s has been removed", evsel->name,
					 evsel->cgroup->name);
		return xasprintf("'%s': there is no task to count (it may have ended)",
				 evsel->name);
	case EBUSY:
		return xasprintf("'%s': the counters of %s are in use by an exclusive event%s",
				 evsel->name, pmu,
				 has_nmi_watchdog() ?
					 ", or by the NMI watchdog (sysctl kernel.nmi_watchdog=0)" :
					 "");
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
	if ((evsel->err == EACCES || evsel->err == EPERM) && !capability__may_count())
		print_levels();
}

char *open_error__text(const struct evsel *evsel, const struct target *target)
{
	return reason(evsel, target);
}

void open_error__warn(const struct evsel *evsel, const struct target *target)
{
	char *text __cleanup(free_ptr) = NULL;

	/* Hidden default events have no row to miss. */
	if (evsel->is_default && evsel->hidden)
		return;
	text = reason(evsel, target);
	if (text)
		pr_warn("%s", text);
}

// SPDX-License-Identifier: GPL-2.0
/* Before anything is opened: which CPUs each event is counted on, and whether it is shared. */
#include "stat_run.h"

#include "capability.h"
#include "config.h"
#include "cpumap.h"
#include "evlist.h"
#include "msg.h"
#include "pmu.h"
#include "util.h"

#include <errno.h>
#include <string.h>

static int use_cpus(struct evsel *evsel, const struct cpumap *cpus)
{
	static const int any = -1;

	cpumap__delete(evsel->cpus);
	evsel->cpus = cpus ? cpumap__dup(cpus) : cpumap__new(&any, 1);
	return evsel->cpus ? 0 : -ENOMEM;
}

/* Tool events are read once, on the first CPU; the times of a CPU on each. */
static int assign_tool(struct evsel *evsel, const struct cpumap *cpus)
{
	bool per_cpu = evsel->tool == TOOL_USER_TIME || evsel->tool == TOOL_SYSTEM_TIME;
	struct cpumap *first;
	int err;

	if (!cpus || per_cpu)
		return use_cpus(evsel, cpus);
	first = cpumap__new(cpus->cpu, 1);
	if (!first)
		return -ENOMEM;
	err = use_cpus(evsel, first);
	cpumap__delete(first);
	return err;
}

/* Some CPUs of a list are not the PMU's: those count nothing, and the user may not know. */
static void warn_foreign_cpus(const struct evsel *evsel, const struct cpumap *cpus,
			      const struct target *target)
{
	struct cpumap *foreign = cpumap__minus(cpus, evsel->own_cpus);
	char *own __cleanup(free_ptr) = cpumap__str(evsel->own_cpus);

	if (target->cpu_list && foreign && foreign->nr && own)
		pr_warn("-C %s: '%s' is counted on CPUs of %s only: %s", target->cpu_list,
			evsel->name, evsel__cpus_owner(evsel), own);
	cpumap__delete(foreign);
}

/*
 * Shared events of the whole system follow CPUs that come online later, where rows are not made of
 * a topology that only CPUs that are online have.
 */
static bool counts_newcomers(const struct stat_run *run, const struct evsel *evsel)
{
	enum aggr_mode mode = run->config.aggr_mode;

	return evsel->share && !run->target.cpu_list &&
	       (mode == AGGR_GLOBAL ||
		(run->plan.progs ? mode == AGGR_PROG : mode == AGGR_NONE && !evsel->cgroup));
}

static int use_possible_cpus(struct evsel *evsel)
{
	struct cpumap *possible = cpumap__possible();
	int err = possible ? use_cpus(evsel, possible) : -errno;

	cpumap__delete(possible);
	return err;
}

/* On tasks: those it is tied to; one event for all when cpu= names every CPU there is. */
static int use_own_cpus(struct evsel *evsel)
{
	struct cpumap *online = NULL, *other = NULL;
	int err;

	if (!evsel->needs_cpu)
		return use_cpus(evsel, NULL);
	if (!evsel->pmu || !evsel->pmu->is_uncore)
		online = cpumap__online();
	if (online)
		other = cpumap__minus(online, evsel->own_cpus);
	err = use_cpus(evsel, other && !other->nr ? NULL : evsel->own_cpus);
	cpumap__delete(other);
	cpumap__delete(online);
	return err;
}

/* Where tasks may run: shared sums of tasks are kept by CPU. */
static int use_task_cpus(struct evsel *evsel)
{
	struct cpumap *online = cpumap__online(), *own = NULL;
	int err = -errno;

	if (online && evsel->own_cpus)
		own = cpumap__and(online, evsel->own_cpus);
	if (online && (own || !evsel->own_cpus))
		err = use_cpus(evsel, own ? own : online);
	cpumap__delete(own);
	cpumap__delete(online);
	return err;
}

static int assign_cpus(struct evsel *evsel, const struct cpumap *cpus, const struct stat_run *run)
{
	const struct target *target = &run->target;
	struct cpumap *both;
	int err;

	if (evsel->tool != TOOL_NONE)
		return assign_tool(evsel, cpus);
	if (!cpus && run->plan.by_cpu && !evsel->needs_cpu)
		return use_task_cpus(evsel);
	if (!cpus)
		return use_own_cpus(evsel);
	if (!evsel->own_cpus && counts_newcomers(run, evsel))
		return use_possible_cpus(evsel);
	if (!evsel->own_cpus)
		return use_cpus(evsel, cpus);
	warn_foreign_cpus(evsel, cpus, target);
	both = cpumap__and(cpus, evsel->own_cpus);
	if (!both)
		return -ENOMEM;
	err = use_cpus(evsel, both);
	cpumap__delete(both);
	return err;
}

/* "8" or "8 and 9" or "8-11", with the right verb. */
static char *offline_text(const struct cpumap *offline)
{
	char *list __cleanup(free_ptr) = cpumap__str(offline);

	if (!list)
		return NULL;
	return xasprintf(offline->nr == 1 ? "CPU %s is offline" : "CPUs %s are offline", list);
}

/* The CPUs to count on; NULL with *status 0 for task targets. */
static struct cpumap *target_cpus(const struct target *target, int *status)
{
	struct cpumap *online = NULL, *asked = NULL, *both = NULL, *offline = NULL;
	char *online_text __cleanup(free_ptr) = NULL;
	char *what __cleanup(free_ptr) = NULL;

	*status = 0;
	if (target__has_task(target))
		return NULL;
	*status = STATUS_FAILED;
	online = cpumap__online();
	if (!online) {
		pr_err("cannot tell which CPUs are online: %s", strerror(errno));
		return NULL;
	}
	if (!target->cpu_list) {
		*status = 0;
		return online;
	}
	asked = cpumap__parse(target->cpu_list);
	if (!asked) {
		pr_err("-C %s: not a list of CPUs such as 0-3,6", target->cpu_list);
		*status = STATUS_INVALID;
		goto out;
	}
	both = cpumap__and(asked, online);
	offline = cpumap__minus(asked, online);
	online_text = cpumap__str(online);
	if (!both || !offline || !online_text)
		goto out;
	what = offline->nr ? offline_text(offline) : NULL;
	if (!both->nr) {
		pr_text("Error:\nNo supported events found.\n-C %s: %s (online: %s)\n",
			target->cpu_list, what ? what : "none", online_text);
		cpumap__delete(both);
		both = NULL;
		goto out;
	}
	if (what)
		pr_warn("-C %s: %s: skipped (online: %s)", target->cpu_list, what, online_text);
	*status = 0;
out:
	cpumap__delete(online);
	cpumap__delete(asked);
	cpumap__delete(offline);
	return both;
}

/* Whether the event can be shared at all; what its attr does not say cannot be. */
static bool can_share(const struct evsel *evsel)
{
	return evsel->tool == TOOL_NONE && !evsel->filter;
}

/*
 * The configuration says what is shared where it can be: a machine's file must not keep users who
 * may not share from counting. One member shares the whole group.
 */
static void share_configured(struct stat_run *run)
{
	char *missing __cleanup(free_ptr) = NULL;
	struct evlist *evlist = run->plan.evlist;
	struct evsel *evsel;
	int i;

	if (!run->share_events || run->share_all)
		return;
	missing = capability__missing_to_share();
	evlist__for_each(evlist, evsel, i) {
		if (evsel->share || !can_share(evsel->leader) ||
		    !config__shares(run->share_events, evsel->name))
			continue;
		if (missing) {
			pr_verbose("'%s' is not shared, as the configuration says: lacks %s", evsel->name,
				   missing);
			continue;
		}
		for (int m = 0; m < evsel->leader->nr_members; m++)
			evlist->evsels[evsel->leader->idx + m]->share = true;
	}
}

static int check_sharing(struct stat_run *run)
{
	const char *option = run->plan.progs  ? "-b" :
			     run->share_all ? "--bpf-counters" :
					      "the modifier b";
	char *missing __cleanup(free_ptr) = NULL;
	bool is_shared = false;
	struct evsel *evsel;
	int i;

	share_configured(run);
	evlist__for_each(run->plan.evlist, evsel, i) {
		if (evsel->runs) {
			if (!run->plan.progs) {
				pr_err("'%s' counts executions of BPF programs: which, -b says", evsel->name);
				return STATUS_INVALID;
			}
			evsel->share = true;
			continue;
		}
		if (run->plan.progs && evsel->filter) {
			pr_err("-b: '%s' has a filter: such events are not shared, and only shared ones can be counted in BPF programs",
			       evsel->name);
			return STATUS_INVALID;
		}
		if ((run->share_all || run->plan.progs) && can_share(evsel->leader))
			evsel->share = true;
		if (!evsel->share)
			continue;
		if (!can_share(evsel)) {
			pr_verbose("'%s' is not shared: its %s is its own", evsel->name,
				   evsel->filter ? "filter" : "value");
			evsel->share = false;
			continue;
		}
		is_shared = true;
	}
	/* Asked before anything is opened or pinned: what is missing has a name then. */
	missing = is_shared ? capability__missing_to_share() : NULL;
	if (missing) {
		pr_err("%s: not permitted: lacks %s (run as root)", option, missing);
		return STATUS_FAILED;
	}
	return 0;
}

/* A breakdown of tasks' counts by CPU and the like: plain events of tasks have but one sum. */
static int check_breakdown(struct stat_run *run)
{
	struct evsel *evsel;
	int i;

	run->plan.by_cpu = target__has_task(&run->target) && run->config.aggr_mode != AGGR_GLOBAL &&
			   run->config.aggr_mode != AGGR_THREAD;
	evlist__for_each(run->plan.evlist, evsel, i) {
		if (!run->plan.by_cpu || evsel->share || evsel->tool != TOOL_NONE)
			continue;
		pr_err("'%s' is not shared%s: a breakdown by CPU, core and the like of a task's counts needs every event shared (%s)",
		       evsel->name, evsel->filter ? ", having a filter" : "",
		       evsel->filter ? "or -a or -C" : "--bpf-counters, or the modifier b; or -a or -C");
		return STATUS_INVALID;
	}
	return 0;
}

int stat_run__assign(struct stat_run *run)
{
	struct evlist *evlist = run->plan.evlist;
	struct cpumap *cpus;
	struct evsel *evsel;
	int status, i;

	status = check_sharing(run);
	if (!status)
		status = check_breakdown(run);
	if (status)
		return status;
	cpus = target_cpus(&run->target, &status);
	if (status)
		return status;
	evlist__for_each(evlist, evsel, i) {
		if (assign_cpus(evsel, run->target.per_thread ? NULL : cpus, run)) {
			status = STATUS_FAILED;
			pr_err("out of memory");
			break;
		}
	}
	cpumap__delete(cpus);
	if (!status)
		evlist__check_groups(evlist);
	return status;
}

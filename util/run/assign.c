// SPDX-License-Identifier: GPL-2.0
#include "util/run/assign.h"

#include "util/bperf/crash_point.h"
#include "util/event/evlist.h"
#include "util/event/pmu.h"
#include "util/host/capability.h"
#include "util/host/config.h"
#include "util/host/cpumap.h"
#include "util/lib/msg.h"
#include "util/lib/util.h"
#include "util/run/stat_run.h"
#include "util/target/cgroup_list.h"
#include "util/target/target_cpus.h"

#include <errno.h>
#include <string.h>

static int use_cpus(struct evsel *evsel, const struct cpumap *cpus)
{
	static const int any = -1;

	cpumap__delete(evsel->cpus);
	evsel->cpus = cpus ? cpumap__dup(cpus) : cpumap__new(&any, 1);
	return evsel->cpus ? 0 : -ENOMEM;
}

/* Read tool events once, on the first CPU, but user and system time on each CPU. */
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

/* Warn if -C names CPUs that the event's PMU does not have: they count nothing. */
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
 * Shared system-wide events follow CPUs that come online later, unless rows need the topology: only
 * CPUs that are online have one.
 */
static bool counts_newcomers(const struct stat_run *run, const struct evsel *evsel)
{
	enum aggr_mode mode = run->config.options.aggr_mode;

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

/* For tasks: use the CPUs of cpu=, but one event for all if that names every CPU. */
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

/* Use all CPUs where tasks may run: shared sums of tasks are kept by CPU. */
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

/* Sharing compares attrs, so it cannot cover what no attr has. */
static bool can_share(const struct evsel *evsel)
{
	return evsel->tool == TOOL_NONE && !evsel->filter && !evsel->is_latency;
}

/*
 * Share the events that the configuration names, but only if permitted: a machine's file must not stop
 * users from counting. One member shares the whole group.
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
			pr_verbose("'%s' is not shared, as the configuration says: lacks %s",
				   evsel->name, missing);
			continue;
		}
		for (int m = 0; m < evsel->leader->nr_members; m++)
			evlist->evsels[evsel->leader->idx + m]->share = true;
	}
}

static int check_sharing(struct stat_run *run)
{
	const char *option = run->plan.progs ? "-b" :
			     run->share_all  ? "--bpf-counters" :
					       "the modifier b";
	char *missing __cleanup(free_ptr) = NULL;
	bool is_shared = false;
	struct evsel *evsel;
	int i;

	share_configured(run);
	evlist__for_each(run->plan.evlist, evsel, i) {
		if (evsel->runs) {
			if (!run->plan.progs) {
				pr_err("'%s' requires -b", evsel->name);
				return -EINVAL;
			}
			evsel->share = true;
			continue;
		}
		if (run->plan.progs && evsel->filter) {
			pr_err("-b: '%s' has a filter: such events are not shared, and only shared ones can be counted in BPF programs",
			       evsel->name);
			return -EINVAL;
		}
		if ((run->share_all || run->plan.progs) && can_share(evsel->leader))
			evsel->share = true;
		if (!evsel->share)
			continue;
		if (!can_share(evsel)) {
			pr_verbose("'%s' cannot be shared: it %s", evsel->name,
				   evsel->filter     ? "has a filter" :
				   evsel->is_latency ? "is a latency" :
						       "is computed by perf");
			evsel->share = false;
			continue;
		}
		is_shared = true;
	}
	/* Check before opening or pinning, to name the missing capability. */
	missing = is_shared ? capability__missing_to_share() : NULL;
	if (missing) {
		pr_err("%s: not permitted: lacks %s (run as root)", option, missing);
		return -EPERM;
	}
	return 0;
}

/* Refuse a breakdown by CPU and the like of plain events of tasks: those have only one sum. */
static int check_breakdown(struct stat_run *run)
{
	struct evsel *evsel;
	int i;

	run->plan.by_cpu = target__has_task(&run->target) &&
			   run->config.options.aggr_mode != AGGR_GLOBAL &&
			   run->config.options.aggr_mode != AGGR_THREAD;
	evlist__for_each(run->plan.evlist, evsel, i) {
		if (!run->plan.by_cpu || evsel->share || evsel->tool != TOOL_NONE)
			continue;
		pr_err("'%s' is not shared%s: a breakdown by CPU, core and the like of a task's counts needs every event shared (%s)",
		       evsel->name, evsel->filter ? ", having a filter" : "",
		       evsel->filter ? "or -a or -C" :
				       "--bpf-counters, or the modifier b; or -a or -C");
		return -EINVAL;
	}
	return 0;
}

/*
 * A session that prints sums of all CPUs keeps the counts of cgroups by CPU, as long as these are few. So counts of
 * events that took turns can be scaled by CPU. Each value takes 100 bytes. Where new cgroups are counted, that many are
 * reckoned with.
 */
#define MAX_VALUES	 (1 << 20)
#define EXPECTED_CGROUPS 1024

static bool has_too_many_values(const struct stat_run *run)
{
	const struct cgroup_list *cgroups = run->plan.cgroups;
	uint64_t nr = 0, nr_come;
	struct evsel *evsel;
	int i;

	evlist__for_each(run->plan.evlist, evsel, i)
		nr += evsel->share && evsel->cgroup ? evsel->cpus->nr : 0;
	nr_come = cgroups && cgroups->follows && cgroups->nr ? EXPECTED_CGROUPS / cgroups->nr : 0;
	return nr + nr * nr_come > crash_point__setting(CRASH_MAX_VALUES, MAX_VALUES);
}

static int find_cpus(const struct target *target, struct cpumap **cpus)
{
	char *why __cleanup(free_ptr) = NULL;
	int err = target_cpus__find(target, cpus, &why);

	if (why)
		pr_text("Error:\nNo supported events found.\n%s\n", why);
	return err;
}

int stat_run__assign(struct stat_run *run)
{
	struct evlist *evlist = run->plan.evlist;
	struct cpumap *cpus;
	struct evsel *evsel;
	int err, i;

	err = check_sharing(run);
	if (!err)
		err = check_breakdown(run);
	if (!err)
		err = find_cpus(&run->target, &cpus);
	if (err)
		return err;
	evlist__for_each(evlist, evsel, i) {
		if (assign_cpus(evsel, run->target.per_thread ? NULL : cpus, run)) {
			err = -ENOMEM;
			pr_err("out of memory");
			break;
		}
	}
	cpumap__delete(cpus);
	if (err)
		return err;
	evlist__check_groups(evlist);
	run->plan.sums_cpus =
		run->config.options.aggr_mode == AGGR_GLOBAL && has_too_many_values(run);
	return 0;
}

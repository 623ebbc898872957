/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_UTIL_EVSEL_H
#define PERF_UTIL_EVSEL_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup;
struct counter;
struct counts;
struct cpumap;
struct evlist;
struct pmu;
struct thread_map;

/* What the kernel knows nothing of: values that perf itself provides. */
enum tool_event {
	TOOL_NONE,
	TOOL_DURATION_TIME,
	TOOL_USER_TIME,
	TOOL_SYSTEM_TIME,
	TOOL_NUM_CPUS,
	TOOL_NUM_CPUS_ONLINE,
	TOOL_NUM_CORES,
	TOOL_NUM_DIES,
	TOOL_NUM_PACKAGES,
	TOOL_SMT_ON,
	TOOL_CORE_WIDE,
	TOOL_TARGET_CPU,
	TOOL_HAS_PMEM,
	TOOL_SYSTEM_TSC_FREQ,
	TOOL_SLOTS,
	TOOL_BPF_RUNS,			/* its number only: becomes evsel->runs */
	NR_TOOL_EVENTS,
	TOOL_SENSOR			/* of a chip: evsel->pmu, attr.config */
};

/* Counts of executions, in BPF programs (-b) only. */
enum runs_event {
	RUNS_NONE,
	RUNS_ALL,		/* bpf_runs */
	RUNS_EXACT,		/* those whose events are known; for averages, never shown */
};

/* Whether the event can be counted; decided when it is opened. */
enum evsel_state {
	EVSEL_UNOPENED,
	EVSEL_COUNTING,
	EVSEL_NOT_SUPPORTED,	/* the kernel refused it for good */
	EVSEL_SKIPPED,		/* other errors: no row value, other events go on */
};

/*
 * One event as selected on the command line. The parser fills the first part and never touches it
 * again; the plan (builtin-stat) fills the second before opening; the back end the third.
 */
struct evsel {
	/* 1: what the event is; owned strings unless noted */
	char *name;			/* as printed */
	struct perf_event_attr attr;	/* type, config words, exclude bits, precise_ip, pinned, exclusive only */
	const struct pmu *pmu;		/* borrowed; NULL for numeric TYPE:CONFIG without known PMU */
	enum tool_event tool;		/* not TOOL_NONE: no kernel event */
	enum runs_event runs;		/* not RUNS_NONE: no kernel event, but not of the tool's either */
	double scale;			/* printed value = count * scale; 1.0 by default */
	const char *unit;		/* printed unit, "" by default; owned */
	struct cpumap *own_cpus;	/* CPUs the PMU or a cpu= term restricts it to; NULL: all */
	bool needs_cpu;			/* uncore or cpu=: can only be counted on CPUs, not on tasks */
	bool per_pkg;			/* count once per package and die */
	bool snapshot;			/* gauge: intervals print the value, not the difference */
	bool percore;
	bool share;			/* modifier b */
	bool weak;			/* of a group leader: open members singly when the group is refused */
	bool keep_ungrouped;		/* modifier X: keep out of PMU regrouping */
	bool levels_given;		/* u, k or h was typed */
	bool auto_merge;		/* one of several PMU instances of one specification... */
	struct evsel *merge_leader;	/* ...whose first instance is this one; NULL: is one itself */
	bool named;			/* name= replaced the text typed */
	bool typed_pmu;			/* the text typed starts with a PMU: "PMU/terms/" */
	bool legacy;			/* a generic hardware or cache name, TYPE:CONFIG or an address */
	char *pmu_event;		/* the event of the PMU that was named; NULL: only terms or numbers */
	char *filter;			/* tracepoint filter, NULL: none. Such events are never shared */
	char *metric_id;		/* what metrics call it; NULL: its name */
	int metric_set;			/* of -M: events of equal numbers are for the same metrics; else 0 */
	char *group_name;		/* of a group leader: NAME{...} */
	struct evsel *leader;		/* itself when it leads or stands alone */
	int nr_members;			/* of a leader: events in the group, itself included; else 0 */
	int idx;			/* position in the evlist */
	bool is_default;		/* of the default set: unsupported members are hidden without -v */
	bool keep_row;			/* of the default set, and yet shown when unsupported */
	bool hidden;			/* counted for others' sake, has no row of its own */
	const struct cgroup *cgroup;	/* NULL: not restricted to one; borrowed */
	const struct evsel *model;	/* --for-each-cgroup: the one of the first cgroup that this repeats */

	/* 2: where it is counted */
	struct cpumap *cpus;		/* owned; cpumap__any() for tasks */
	struct thread_map *threads;	/* borrowed from the plan; NULL for CPU targets */
	bool in_progs;			/* counted in BPF programs on these CPUs: the rows of threads */
	bool threads_as_one;		/* counted for all threads together: one column of counts */

	/* 3: counting */
	struct counter *counter;	/* the back end that counts it; borrowed */
	void *priv;			/* that back end's own; freed by its close() */
	enum evsel_state state;
	int err;			/* errno of the refusal */
	struct counts *counts;		/* owned */
};

/** evsel__new() - an event of that attr and printed name (copied); NULL with errno ENOMEM */
struct evsel *evsel__new(const struct perf_event_attr *attr, const char *name);

/**
 * evsel__clone() - the same event once more, not in any list or group yet
 *
 * Return: NULL with errno ENOMEM.
 */
struct evsel *evsel__clone(const struct evsel *evsel);

/** evsel__delete() - free it; the back end must have closed it before. NULL is ignored */
void evsel__delete(struct evsel *evsel);

static inline bool evsel__is_leader(const struct evsel *evsel)
{
	return evsel->leader == evsel;
}

/**
 * evsel__pmu_event_name() - the name with the PMU in it: "uncore_imc_0/clockticks/", "tool/x/"
 *
 * What rows of single PMU instances are called. Without a PMU, for tracepoints and with name= it
 * is the plain name.
 * Return: the name, owned by the caller; NULL with errno ENOMEM.
 */
char *evsel__pmu_event_name(const struct evsel *evsel);

/** evsel__name_modifiers() - show modifiers in the name: "cycles:u", "cpu/event=1/u" */
int evsel__name_modifiers(struct evsel *evsel, const char *modifiers);

/** evsel__group_text() - "NAME { a, b }" or "anon group { a, b }" of a leader, for messages; owned */
char *evsel__group_text(const struct evlist *list, const struct evsel *leader);

/** evsel__cpus_owner() - what ties it to its own_cpus, for messages: the PMU's name or "its cpu=" */
const char *evsel__cpus_owner(const struct evsel *evsel);

/** evsel__is_clock() - cpu-clock or task-clock, whose unit is msec */
bool evsel__is_clock(const struct evsel *evsel);

/** evsel__is_software() - may stand in a group with the events of any PMU */
bool evsel__is_software(const struct evsel *evsel);

/** evsel__is() - a plain kernel event of that type and config, whatever its modifiers */
bool evsel__is(const struct evsel *evsel, uint32_t type, uint64_t config);

/**
 * evsel__alloc_counts() - make the table of counts for its cpus and threads
 *
 * Return: 0 or -ENOMEM.
 */
int evsel__alloc_counts(struct evsel *evsel);

/**
 * evsel__exclude_kernel() - what a paranoid kernel asks of ordinary users: count user level only
 *
 * The printed name gets ":u" ("u" behind a closing slash).
 * Return: 0, -ENOMEM, or -EALREADY when the kernel was excluded before.
 */
int evsel__exclude_kernel(struct evsel *evsel);

/** evsel__exclude_guest() - the same for PMUs that cannot tell guests apart; the name gets "H" */
int evsel__exclude_guest(struct evsel *evsel);

/**
 * evsel__use_clock() - count a clock in the place of cycles, where CPUs have no counter for them
 * @is_task: task-clock, else cpu-clock
 *
 * The modifiers stay. Return: 0, -ENOMEM, or -EINVAL when the event is not the generic cycles.
 */
int evsel__use_clock(struct evsel *evsel, bool is_task);

#endif

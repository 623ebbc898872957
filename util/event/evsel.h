/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_EVENT_EVSEL_H
#define PERF_EVENT_EVSEL_H

/* One event with its selection, CPUs, state and counts. */

#include "util/host/wide_attr.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup;
struct io_port;
struct counter;
struct counts;
struct cpumap;
struct pmu;
struct thread_map;

/* Values that perf itself provides, without the kernel. */
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
	TOOL_BPF_RUNS, /* number only: becomes evsel->runs */
	NR_TOOL_EVENTS,
	TOOL_SENSOR, /* of a chip; see evsel->pmu, attr.config */
	TOOL_DRM     /* of a GPU driver; likewise */
};

/* Counts of executions, in BPF programs (-b) only. */
enum runs_event {
	RUNS_NONE,
	RUNS_ALL,   /* bpf_runs */
	RUNS_EXACT, /* executions whose events are known; for averages, never shown */
};

/* The outcome of opening the event. */
enum evsel_state {
	EVSEL_UNOPENED,
	EVSEL_COUNTING,
	EVSEL_NOT_SUPPORTED, /* the kernel cannot count it */
	EVSEL_SKIPPED,	     /* other errors: no value, other events continue */
};

/*
 * One event as selected on the command line. The parser fills the first part and never touches it
 * again; the run fills the second before opening; the back end the third.
 */
struct evsel {
	/* 1: what the event is; owned strings unless noted */
	char *name; /* as printed */
	struct perf_event_attr
		attr; /* type, config words, exclude bits, precise_ip, pinned, exclusive only */
	uint64_t more_config[NR_MORE_CONFIG]; /* config3, config4 */
	const struct pmu *pmu;	 /* borrowed; NULL for numeric TYPE:CONFIG without known PMU */
	enum tool_event tool;	 /* not TOOL_NONE: no kernel event */
	enum runs_event runs;	 /* not RUNS_NONE: neither a kernel event nor a tool event */
	double scale;		 /* printed value = count * scale; 1.0 by default */
	const char *unit;	 /* printed unit, "" by default; owned */
	struct cpumap *own_cpus; /* CPUs the PMU or a cpu= term restricts it to; NULL: all */
	bool needs_cpu;		 /* uncore or cpu=: cannot be counted for tasks */
	bool per_pkg;		 /* count once per package and die */
	bool snapshot;		 /* gauge: intervals print the value, not the difference */
	bool percore;
	bool has_period; /* period= was given, which nothing heeds */
	bool share;	 /* modifier b */
	bool weak; /* of a group leader: open members singly if the kernel refuses the group */
	bool is_latency;	    /* modifier R: a latency, not a count; never opened */
	bool keep_ungrouped;	    /* modifier X: keep out of PMU regrouping */
	bool levels_given;	    /* u, k or h was typed */
	bool auto_merge;	    /* one of several PMU instances of one specification... */
	struct evsel *merge_leader; /* ...the first of which is this one; NULL: this is the first */
	bool named;		    /* name= replaced the typed text */
	bool typed_pmu;		    /* the typed text starts with a PMU: "PMU/terms/" */
	bool legacy;	  /* a generic hardware or cache name, TYPE:CONFIG or an address */
	char *pmu_event;  /* the named event of the PMU; NULL: only terms or numbers */
	char *filter;	  /* tracepoint filter, NULL: none. Such events are never shared */
	char *metric_id;  /* its name in metrics; NULL: its name */
	int metric_set;	  /* of -M: events with equal numbers serve the same metrics; otherwise 0 */
	char *group_name; /* of a group leader: NAME{...} */
	struct evsel *leader; /* itself when it leads or stands alone */
	int nr_members;	      /* of a leader: events in the group, including itself; otherwise 0 */
	int idx;	      /* position in the evlist */
	bool is_default;      /* of the default set: unsupported members are hidden without -v */
	bool keep_row;	      /* of the default set, but shown when unsupported */
	bool hidden;	      /* counted only for metrics or other events, without a row */
	const struct cgroup *cgroup; /* NULL: not restricted to one; borrowed */
	const struct evsel *model;   /* --for-each-cgroup: the same event of the first cgroup */
	const struct io_port *port;  /* --iostat: it is a column of this port's row; borrowed */

	/* 2: where it is counted */
	struct cpumap *cpus;	    /* owned; cpumap__any() for tasks */
	struct thread_map *threads; /* borrowed from the run; NULL for CPU targets */
	bool in_progs;		    /* counted in BPF programs on these CPUs */
	bool threads_as_one;	    /* counted for all threads together, in one column */
	bool cpus_as_one;	    /* counted for all CPUs together, in one row */

	/* 3: counting */
	struct counter *counter; /* the back end that counts it; borrowed */
	void *priv;		 /* that back end's own; freed by its close() */
	enum evsel_state state;
	int err;	       /* errno of the refusal */
	struct counts *counts; /* owned */
};

/** evsel__new() - an event with this attr and printed name (copied); NULL with errno ENOMEM */
struct evsel *evsel__new(const struct perf_event_attr *attr, const char *name);

/**
 * evsel__clone() - a copy of an event, in no list or group yet
 *
 * Return: NULL with errno ENOMEM.
 */
struct evsel *evsel__clone(const struct evsel *evsel);

/** evsel__delete() - free an event that the back end has closed; NULL is ignored */
void evsel__delete(struct evsel *evsel);

static inline bool evsel__is_leader(const struct evsel *evsel)
{
	return evsel->leader == evsel;
}

/**
 * evsel__pmu_event_name() - the name with the PMU in it: "uncore_imc_0/clockticks/", "tool/x/"
 *
 * The name in rows of single PMU instances. Without a PMU, for tracepoints and with name= it is the
 * plain name.
 * Return: the name, owned by the caller; NULL with errno ENOMEM.
 */
char *evsel__pmu_event_name(const struct evsel *evsel);

/** evsel__name_modifiers() - append modifiers to the name: "cycles:u", "cpu/event=1/u" */
int evsel__name_modifiers(struct evsel *evsel, const char *modifiers);

/**
 * evsel__base_name() - the bare name in an event's printed name
 * @base: receives "cycles" for cycles:u, cpu_core/cycles/ and cycles; @size bytes
 */
void evsel__base_name(const struct evsel *evsel, char *base, int size);

/** evsel__cpus_owner() - the reason for its own_cpus, for messages: the PMU's name or "its cpu=" */
const char *evsel__cpus_owner(const struct evsel *evsel);

/** evsel__is_clock() - cpu-clock or task-clock, whose unit is msec */
bool evsel__is_clock(const struct evsel *evsel);

/** evsel__is_software() - whether it may be in a group with events of any PMU */
bool evsel__is_software(const struct evsel *evsel);

/** evsel__is() - whether it is a kernel event with that type and config */
bool evsel__is(const struct evsel *evsel, uint32_t type, uint64_t config);

/**
 * evsel__alloc_counts() - allocate the table of counts for its cpus and threads
 *
 * Return: 0 or -ENOMEM.
 */
int evsel__alloc_counts(struct evsel *evsel);

/** evsel__has_levels() - whether the event's PMU tells user from kernel; uncore PMUs count for both */
bool evsel__has_levels(const struct evsel *evsel);

/**
 * evsel__exclude_kernel() - count user level only, as paranoid kernels demand of ordinary users
 *
 * The printed name gets ":u" ("u" behind a closing slash).
 * Return: 0, -ENOMEM, or -EALREADY if the kernel is excluded already.
 */
int evsel__exclude_kernel(struct evsel *evsel);

/** evsel__exclude_guest() - count the host only, for PMUs that require it; the name gets "H" */
int evsel__exclude_guest(struct evsel *evsel);

/**
 * evsel__use_clock() - count a clock instead of cycles, on CPUs without a counter
 * @is_task: task-clock, otherwise cpu-clock
 *
 * The modifiers stay. Return: 0, -ENOMEM, or -EINVAL if the event is not the generic cycles.
 */
int evsel__use_clock(struct evsel *evsel, bool is_task);

#endif

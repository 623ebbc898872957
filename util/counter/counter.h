/* SPDX-License-Identifier: GPL-2.0 */
#ifndef PERF_COUNTER_COUNTER_H
#define PERF_COUNTER_COUNTER_H

/* The interface of the ways to count: plain, tool and shared events. */

#include "util/counter/refusal_sink.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

struct bpf_prog_list;
struct cgroup_list;
struct evlist;
struct evsel;
struct target;
struct thread_map;
struct workload;

/* Returned by open(): another back end can count the events, but they cannot be shared now. */
#define COUNT_OTHERWISE (-ECANCELED)

/* The choices and services that every back end uses; constant after open(). */
struct counter_plan {
	struct evlist *evlist;
	const struct target *target;
	struct thread_map *threads;  /* of the task target; NULL for CPU targets */
	struct cgroup_list *cgroups; /* that evsels are restricted to */
	bool by_cpu;	/* bperf: tasks are counted CPU by CPU, as evsel->cpus has them */
	bool sums_cpus; /* bperf: counts of cgroups are kept for all CPUs together */
	struct bpf_prog_list *progs;  /* BPF programs to count; NULL: none */
	struct thread_map *prog_rows; /* these as rows, in the same order */
	bool enable_on_exec;	      /* a held workload starts the counting itself */
	const char *
		otherwise; /* bperf: end of the warning about a lock that is held; NULL: counts alone */
	const char
		*attr_map_path; /* bperf: where the map of shared events is pinned; NULL: default */
	const uid_t *trusted_owners; /* bperf: owners of that map, see attr_map__open() */
	const struct workload
		*workload; /* tool: whose rusage counts once it has ended; NULL: none */
};

struct counter;

/*
 * A way of counting. A pass makes one object for each way in use; the object counts the evsels whose
 * ->counter it is. Functions return 0, or -errno after a message.
 */
struct counter_ops {
	const char *name;

	/**
	 * open() - open the events of this back end; they count nothing yet
	 *
	 * Sets state and err of each evsel. An event the kernel refuses is no error of open().
	 * COUNT_OTHERWISE, after a warning: another back end must count these events.
	 */
	int (*open)(struct counter *self);

	/** enable(), disable() - a window begins, a window ends; any number of them */
	int (*enable)(struct counter *self);
	int (*disable)(struct counter *self);

	/**
	 * set_event() - start or stop one event with its group
	 *
	 * The next enable() or disable() applies to all events again.
	 */
	int (*set_event)(struct counter *self, struct evsel *evsel, bool counts);

	/** read() - bring evsel->counts up to date */
	int (*read)(struct counter *self);

	/** wakeup_fd() - readable when handle_wakeup() must be called; -1: never. Both may be left out */
	int (*wakeup_fd)(struct counter *self);
	void (*handle_wakeup)(struct counter *self);

	/** poll_cgroups() - note in the plan's list which cgroups were created. May be left out */
	int (*poll_cgroups)(struct counter *self);

	/**
	 * add_cgroups() - also count the cgroups that are CGROUP_NEW. May be left out
	 *
	 * Their evsels are UNOPENED, or are left from a cgroup that was dropped.
	 */
	int (*add_cgroups)(struct counter *self);

	/** drop_cgroups() - stop counting those that are CGROUP_GONE; their counts stay. May be left out */
	int (*drop_cgroups)(struct counter *self);

	/**
	 * follow_progs() - count new BPF programs of the plan's list, give up those that were replaced
	 *
	 * The plan's rows of programs and evsel->threads are up to date. May be left out.
	 */
	int (*follow_progs)(struct counter *self);

	/**
	 * park() - stop counting, but keep what takes long to open again
	 *
	 * open() may follow, with another plan of the same events; after an error, which has no message,
	 * only destroy(). May be left out.
	 */
	int (*park)(struct counter *self);

	/** destroy() - release everything in any state, evsel->priv included */
	void (*destroy)(struct counter *self);
};

struct counter {
	const struct counter_ops *ops;
	const struct counter_plan *plan;
	struct refusal_sink *refusals; /* during open(): learns each refusal; NULL: none listens */
};

/** counter__refused() - report a refusal to the sink, right after the call that failed */
static inline void counter__refused(const struct counter *self, const struct evsel *evsel, int err)
{
	if (self->refusals)
		self->refusals->refused(self->refusals, evsel, err);
}

#endif
